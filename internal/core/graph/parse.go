// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import "strconv"

// parse reads back what row writes, as long as it is as plain as nearly all of
// it is: no white space, no unknown members. Everything else is left to
// encoding/json.
type parse struct {
	rest  []byte
	words words
	// unescaped has the last string that was not as it stands.
	unescaped []byte
	ok        bool
}

// words are texts that stand in many nodes: all of them share one copy.
type words map[string]string

func (w words) word(text []byte) string {
	if s, ok := w[string(text)]; ok {
		return s
	}
	s := string(text)
	w[s] = s
	return s
}

// parseNode says whether the text was plain.
func parseNode(text []byte, n *Node, w words) bool {
	p := parse{rest: text, words: w, ok: true}
	p.object(func(key []byte) { p.member(n, key) })
	return p.ok && len(p.rest) == 0
}

func (p *parse) member(n *Node, key []byte) {
	switch string(key) {
	case "id":
		n.ID = NodeID(p.text())
	case "parent":
		n.Parent = NodeID(p.word())
	case "kind":
		n.Kind = Kind(p.word())
	case "type":
		n.Type = p.word()
	case "lifecycle":
		n.Lifecycle = Lifecycle(p.word())
	case "version":
		n.Version = p.count()
	case "incarnation":
		n.Incarnation = p.count()
	case "life_at":
		n.LifeAt = p.time()
	case "owner":
		n.Owner = p.word()
	case "address":
		n.Address = p.text()
	case "digest":
		n.Digest = p.text()
	case "observed_at":
		n.ObservedAt = p.time()
	case "since_index":
		n.SinceIndex = p.count()
	case "declared_by":
		n.DeclaredBy = p.word()
	case "history":
		n.History = p.history()
	case "changed_index":
		n.ChangedIndex = p.count()
	case "changed_by":
		n.ChangedBy = p.word()
	case "changed_from":
		n.ChangedFrom = p.count()
	case "bound_to":
		n.BoundTo = NodeID(p.text())
	case "collides":
		n.Collides = NodeID(p.text())
	default:
		p.ok = false
	}
}

func (p *parse) history() []Change {
	list := make([]Change, 0, 1)
	for opening := byte('['); p.ok; opening = ',' {
		p.take(opening)
		var c Change
		p.object(func(key []byte) { p.change(&c, key) })
		if list = append(list, c); p.skip(']') {
			break
		}
	}
	return list
}

func (p *parse) change(c *Change, key []byte) {
	switch string(key) {
	case "at":
		c.At = p.time()
	case "session":
		c.Session = p.word()
	case "intent":
		c.Intent = p.word()
	case "tx":
		c.Tx = p.text()
	case "action":
		c.Action = p.word()
	case "result":
		c.Result = p.word()
	default:
		p.ok = false
	}
}

// object reads the members of an object; member reads each value. The key is
// valid until then.
func (p *parse) object(member func(key []byte)) {
	for opening := byte('{'); p.ok; opening = ',' {
		p.take(opening)
		key := p.quoted()
		if p.take(':'); p.ok {
			member(key)
		}
		if p.skip('}') {
			break
		}
	}
}

// skip passes over a byte if it is the next one.
func (p *parse) skip(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parse) take(c byte) { p.ok = p.skip(c) && p.ok }

func (p *parse) word() string { return p.words.word(p.quoted()) }

func (p *parse) text() string { return string(p.quoted()) }

func (p *parse) digits() string {
	end := 0
	for end < len(p.rest) && (p.rest[end] >= '0' && p.rest[end] <= '9' || end == 0 && p.rest[0] == '-') {
		end++
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	return string(text)
}

func (p *parse) count() uint64 {
	v, err := strconv.ParseUint(p.digits(), 10, 64)
	p.ok = p.ok && err == nil
	return v
}

func (p *parse) time() int64 {
	v, err := strconv.ParseInt(p.digits(), 10, 64)
	p.ok = p.ok && err == nil
	return v
}
