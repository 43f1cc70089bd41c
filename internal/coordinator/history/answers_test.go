// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"fmt"
	"slices"
	"strings"
)

// submit is a request: a known key gets the answer that is true of its call now.
func (w *world) submit(in input, out output) bool {
	if why := w.refusal(in, out); why != "" {
		return out.is(why)
	}
	c := w.find(in.session, in.key)
	if c == nil {
		w.calls = append(w.calls, call{session: in.session, key: in.key, ask: in.ask, status: queued})
		w.judge(len(w.calls) - 1)
		c = &w.calls[len(w.calls)-1]
	}
	return w.told(c, out)
}

// told says whether a decision about a call is true, and remembers what it gave
// away: the id belongs to no other call, and tokens grow with the admissions.
func (w *world) told(c *call, out output) bool {
	switch {
	case out.unknown:
		return true
	case out.err != "", out.status != c.status, (c.turn == 0) != (out.token == 0), out.tx == "":
		return false
	case c.id != "" && c.id != out.tx, c.token != 0 && c.token != out.token:
		return false
	}
	for i := range w.calls {
		o := &w.calls[i]
		if o == c {
			continue
		}
		if o.id == out.tx {
			return false
		}
		if o.token != 0 && out.token != 0 && (o.turn < c.turn) != (o.token < out.token) {
			return false
		}
	}
	c.id, c.token = out.tx, out.token
	return true
}

// act is something that is done about a call.
func (w *world) act(in input, out output) bool {
	c := w.find(in.session, in.key)
	if c == nil {
		return false
	}
	switch in.kind { //nolint:exhaustive // the others are not about a call
	case opStart:
		return out.is(w.start(c, in, out))
	case opComplete:
		return out.is(w.complete(c, in))
	case opWithdraw:
		return out.is(w.withdraw(c))
	default:
		return out.is(w.resolve(c, in.exists))
	}
}

func (w *world) start(c *call, in input, out output) string {
	if c.token == 0 || in.token != c.token {
		return wrongToken
	}
	if why := w.refusal(in, out); why != "" {
		return why
	}
	switch c.status {
	case admitted, actioning:
		c.status = actioning
		return ""
	default:
		return wrongStatus
	}
}

// results are what calls end as.
var results = map[string]string{
	"succeeded": operational, "errored": failed, "lost": uncertain, "not_sent": withdrawn,
}

func (w *world) complete(c *call, in input) string {
	if c.token == 0 || in.token != c.token {
		return wrongToken
	}
	status := results[in.result]
	exists := in.exists && in.result != "not_sent" || in.result == "succeeded" && c.ask.touch != scans
	switch {
	case c.final():
		if status != uncertain && c.status == status && c.exists == exists && !c.person {
			return ""
		}
		return wrongStatus
	case c.status == queued, c.status == admitted && status != withdrawn:
		return wrongStatus
	case status == uncertain:
		c.status = uncertain
		return ""
	}
	c.status, c.exists = status, exists
	w.drain()
	return ""
}

func (w *world) withdraw(c *call) string {
	switch c.status {
	case withdrawn:
	case queued, admitted:
		c.status = withdrawn
		w.drain()
	default:
		return wrongStatus
	}
	return ""
}

func (w *world) resolve(c *call, exists bool) string {
	if c.status != uncertain {
		return wrongStatus
	}
	c.status, c.exists, c.person = failed, exists, true
	if exists || c.ask.touch == scans {
		c.status = operational
	}
	w.drain()
	return ""
}

// shows says whether a status is what is going on: all of it, in the order of
// the tickets, and nothing else.
func (w *world) shows(out output) bool {
	var live []string
	for _, s := range w.sessions {
		if s.ended == "" {
			live = append(live, s.name)
		}
	}
	slices.Sort(live)
	if !slices.Equal(live, out.live) {
		return false
	}
	n := 0
	for i := range w.calls {
		c := &w.calls[i]
		if c.final() {
			continue
		}
		if n == len(out.list) {
			return false
		}
		l := out.list[n]
		n++
		if l.session != c.session || l.key != c.key || !w.told(c, output{tx: l.tx, status: l.status, token: l.token}) {
			return false
		}
	}
	return n == len(out.list)
}

// tokensGrow checks what the model, which sees one tree at a time, cannot: over
// the whole history no token is given twice, a call that was submitted after
// another's token was known has a greater one, and so it is with the indices.
func tokensGrow(all []record) error {
	type known struct {
		tx    string
		token uint64
		asked int64 // when it was first submitted
		told  int64 // when its token was first known
	}
	calls := map[string]*known{}
	for _, r := range all {
		if r.in.kind != opSubmit && r.in.kind != opLook || r.out.token == 0 {
			continue
		}
		id := fmt.Sprint(r.in.session, "/", r.in.key)
		k := calls[id]
		if k == nil {
			k = &known{tx: id, token: r.out.token, asked: r.call, told: r.ret}
			calls[id] = k
		}
		if k.token != r.out.token {
			return fmt.Errorf("%s has tokens %d and %d", id, k.token, r.out.token)
		}
		k.told = min(k.told, r.ret)
	}
	for _, r := range all {
		if k := calls[fmt.Sprint(r.in.session, "/", r.in.key)]; k != nil && r.in.kind == opSubmit {
			k.asked = min(k.asked, r.call)
		}
	}
	for _, a := range calls {
		for _, b := range calls {
			if a != b && a.token == b.token || a.told < b.asked && a.token > b.token {
				return fmt.Errorf("%s has token %d and %s has %d", a.tx, a.token, b.tx, b.token)
			}
		}
	}
	return indicesGrow(all)
}

func indicesGrow(all []record) error {
	sorted := slices.DeleteFunc(slices.Clone(all), func(r record) bool { return r.out.index == 0 })
	slices.SortFunc(sorted, func(a, b record) int { return int(a.call - b.call) })
	for i, a := range sorted {
		for _, b := range sorted[i+1:] {
			if a.ret < b.call && a.out.index > b.out.index {
				return fmt.Errorf("index %d was answered after %d", b.out.index, a.out.index)
			}
		}
	}
	return nil
}

// summary counts the answers by kind.
func summary(all []record) string {
	counts, lost := map[kind]int{}, 0
	for _, r := range all {
		counts[r.in.kind]++
		if r.out.unknown {
			lost++
		}
	}
	var kinds []string
	for k, n := range counts {
		kinds = append(kinds, fmt.Sprint(k, " ", n))
	}
	slices.Sort(kinds)
	return fmt.Sprintf("%d operations, %d answers lost: %s", len(all), lost, strings.Join(kinds, ", "))
}
