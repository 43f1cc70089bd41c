// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"fmt"
	"slices"
	"strings"
)

// The states of a call that the model tells apart.
const (
	queued      = "queued"
	admitted    = "admitted"
	actioning   = "actioning"
	uncertain   = "uncertain"
	operational = "operational"
	failed      = "failed"
	rejected    = "rejected"
	withdrawn   = "withdrawn"
)

// The reasons of refusals.
const (
	noSession   = "NO_SESSION"
	wrongToken  = "WRONG_TOKEN"
	wrongStatus = "WRONG_STATUS"
)

// call is one transaction.
type call struct {
	session string
	key     uint64
	ask     ask
	status  string
	id      string // once somebody was told
	// turn numbers the admissions; 0 before that. The token is 0 until somebody
	// was told.
	turn   int
	token  uint64
	exists bool
	person bool // settled by a person
}

func (c *call) holds() bool {
	return c.status == admitted || c.status == actioning || c.status == uncertain
}

func (c *call) final() bool { return c.status != queued && !c.holds() }

// session is one run.
type session struct {
	name, id string
	reject   bool
	ended    string // how; empty while it is open
}

// mark is a moment that a reader noted, and how often the probe had changed.
type mark struct{ id, changes int }

// world is a state of the model: one tree with the sessions that work in it. It
// does not change once it is sealed.
type world struct {
	sessions []session
	calls    []call // in the order of their tickets
	turn     int
	// presence is what is known of the one object that is only observed.
	presence string
	changes  int
	marks    []mark
	text     string // the whole state
}

func (w *world) clone() *world {
	next := *w
	next.sessions, next.calls, next.marks = slices.Clone(w.sessions), slices.Clone(w.calls), slices.Clone(w.marks)
	return &next
}

func (w *world) sealed() *world {
	w.text = ""
	var b strings.Builder
	for _, s := range w.sessions {
		fmt.Fprint(&b, s.name, "=", s.id, " ", s.ended, ";")
	}
	for i := range w.calls {
		c := &w.calls[i]
		fmt.Fprint(&b, c.session, "/", c.key, "=", c.id, " ", c.status, " ", c.turn, " ", c.token, c.exists, c.person, ";")
	}
	fmt.Fprint(&b, w.presence, w.changes, w.marks)
	w.text = b.String()
	return w
}

func (w *world) session(name string) *session {
	i := slices.IndexFunc(w.sessions, func(s session) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &w.sessions[i]
}

func (w *world) find(session string, key uint64) *call {
	i := slices.IndexFunc(w.calls, func(c call) bool { return c.session == session && c.key == key })
	if i < 0 {
		return nil
	}
	return &w.calls[i]
}

// refusal is why a session may not act; empty when it may. A lease that is over
// is as good as ended for its own session, before the coordinator has ended it.
func (w *world) refusal(in input, out output) string {
	if s := w.session(in.session); s == nil || s.ended != "" {
		return noSession
	}
	if out.err == noSession && in.lapsed && in.kind != opRenew {
		return noSession
	}
	return ""
}

func (w *world) open(in input, out output) bool {
	s := w.session(in.session)
	if s == nil {
		w.sessions = append(w.sessions, session{name: in.session, id: out.tx, reject: in.reject})
		return out.is("")
	}
	if s.ended != "" || out.unknown {
		return out.unknown
	}
	if s.id == "" {
		s.id = out.tx
	}
	return out.err == "" && out.tx == s.id
}

// close may be said twice. A session that has ended without ever having
// asked for anything is forgotten at once.
func (w *world) close(in input) string {
	s := w.session(in.session)
	asked := slices.ContainsFunc(w.calls, func(c call) bool { return c.session == in.session })
	if s == nil || s.ended == "expired" || s.ended == "closed" && !asked {
		return noSession
	}
	w.end(in.session, "closed")
	return ""
}

// end is the end of a session: nothing of it waits any more, and what may be
// running keeps what it holds.
func (w *world) end(name, how string) {
	s := w.session(name)
	if s == nil || s.ended != "" {
		return
	}
	s.ended = how
	for i := range w.calls {
		c := &w.calls[i]
		switch {
		case c.session != name:
		case c.status == actioning:
			c.status = uncertain
		case c.status == queued, c.status == admitted:
			c.status = withdrawn
		}
	}
	w.drain()
}

// drain lets go on what can, first come, first served.
func (w *world) drain() {
	for i := range w.calls {
		if w.calls[i].status == queued {
			w.judge(i)
		}
	}
}

// judge decides about one waiting call: it yields to all who hold and to those
// who have waited longer, as far as they collide.
func (w *world) judge(i int) {
	c := &w.calls[i]
	blocked, foreign := false, false
	for j := range w.calls {
		o := &w.calls[j]
		if i == j || !(o.holds() || o.status == queued && j < i) || !c.ask.collides(o.ask) {
			continue
		}
		blocked = true
		foreign = foreign || o.session != c.session
	}
	switch {
	case !blocked:
		w.turn++
		c.status, c.turn = admitted, w.turn
	case foreign && w.session(c.session).reject:
		c.status = rejected
	}
}

// observe is what somebody saw of the probe. What has changed since they began
// to look they cannot know.
func (w *world) observe(in input, out output) string {
	if why := w.refusal(in, out); why != "" {
		return why
	}
	i := slices.IndexFunc(w.marks, func(m mark) bool { return m.id == in.mark })
	if i < 0 {
		return "no such moment"
	}
	seen := "absent"
	if in.exists {
		seen = "present"
	}
	if w.marks[i].changes == w.changes && w.presence != seen {
		w.presence = seen
		w.changes++
	}
	w.marks = slices.Delete(w.marks, i, i+1)
	return ""
}
