// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import "strconv"

// row is the JSON form of an object being written. It is what encoding/json
// writes, without its reflection: a large graph is mostly nodes.
type row struct {
	b     []byte
	empty bool // no member yet
}

func (r *row) key(k string) {
	if !r.empty {
		r.b = append(r.b, ',')
	}
	r.empty = false
	r.b = append(append(append(r.b, '"'), k...), '"', ':')
}

func (r *row) text(k, s string) {
	r.key(k)
	r.b = appendText(r.b, s)
}

// maybe writes a text that is left out where it is empty.
func (r *row) maybe(k, s string) {
	if s != "" {
		r.text(k, s)
	}
}

func (r *row) time(k string, v int64) {
	r.key(k)
	r.b = strconv.AppendInt(r.b, v, 10)
}

func (r *row) count(k string, v uint64) {
	if v != 0 {
		r.key(k)
		r.b = strconv.AppendUint(r.b, v, 10)
	}
}

func appendNode(b []byte, n *Node) []byte {
	r := row{b: append(b, '{'), empty: true}
	r.text("id", string(n.ID))
	r.maybe("parent", string(n.Parent))
	r.text("kind", string(n.Kind))
	r.maybe("type", n.Type)
	r.maybe("lifecycle", string(n.Lifecycle))
	r.count("version", n.Version)
	r.count("incarnation", n.Incarnation)
	if n.LifeAt != 0 {
		r.time("life_at", n.LifeAt)
	}
	r.maybe("owner", n.Owner)
	r.maybe("address", n.Address)
	r.maybe("digest", n.Digest)
	if n.ObservedAt != 0 {
		r.time("observed_at", n.ObservedAt)
	}
	r.maybe("declared_by", n.DeclaredBy)
	if len(n.History) > 0 {
		r.key("history")
		r.b = appendHistory(r.b, n.History)
	}
	r.count("changed_index", n.ChangedIndex)
	r.maybe("changed_by", n.ChangedBy)
	r.count("changed_from", n.ChangedFrom)
	r.maybe("bound_to", string(n.BoundTo))
	r.maybe("collides", string(n.Collides))
	return append(r.b, '}')
}

func appendHistory(b []byte, list []Change) []byte {
	opening := byte('[')
	for _, c := range list {
		r := row{b: append(b, opening, '{'), empty: true}
		r.time("at", c.At)
		r.text("session", c.Session)
		r.text("intent", c.Intent)
		r.maybe("tx", c.Tx)
		r.text("action", c.Action)
		r.text("result", c.Result)
		b, opening = append(r.b, '}'), ','
	}
	return append(b, ']')
}
