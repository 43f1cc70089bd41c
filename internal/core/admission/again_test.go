// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestSaidTwice: what is said twice in the same words changes nothing the second
// time; in other words it is an error. What a person has settled is not confirmed
// by a late answer.
func TestSaidTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first  Result
		exists bool
		second Result
		still  bool
		want   error
	}{
		"success":          {Succeeded, true, Succeeded, true, nil},
		"failure":          {Errored, true, Errored, true, nil},
		"another failure":  {Errored, true, Errored, false, ErrStatus},
		"another outcome":  {Errored, true, Succeeded, true, ErrStatus},
		"lost after all":   {Succeeded, true, Lost, true, ErrStatus},
		"not sent at all":  {Succeeded, true, NotSent, true, ErrStatus},
		"lost twice":       {Lost, false, Lost, false, nil},
		"lost, then known": {Lost, false, Succeeded, true, nil},
	} {
		m := newMachine(t, "a")
		tx := m.submit("t", write("a", Update, "r/g/v"))
		m.finish("t", c.first, c.exists)
		status := m.status("t")
		events, err := m.Apply(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: c.second, Exists: c.still})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if repeated := c.first == c.second; repeated && (len(events) != 0 || m.status("t") != status) {
			t.Errorf("%s: %v", name, events)
		}
	}
	m := newMachine(t, "a")
	tx := m.submit("t", write("a", Update, "r/g/v"))
	m.finish("t", Lost, false)
	m.must(Resolve{Stamp: m.tick(), Tx: "t", Actor: "ann", Reason: "looked", Exists: true})
	if _, err := m.Apply(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Succeeded, Exists: true}); !errors.Is(err, ErrStatus) {
		t.Errorf("behind a person's word: %v", err)
	}
}

// TestSessionsEndOnce: how and when a session ended, and its processes died, is
// what was said first.
func TestSessionsEndOnce(t *testing.T) {
	t.Parallel()
	ends := map[string]func(m *machine) Command{
		closed:  func(m *machine) Command { return CloseSession{Stamp: m.tick(), Session: "a"} },
		died:    func(m *machine) Command { return Deceased{Stamp: m.tick(), Session: "a"} },
		expired: func(m *machine) Command { return Expire{Stamp: Stamp{Now: m.Now() + 1<<41}} },
	}
	for how, end := range ends {
		m := newMachine(t, "a")
		m.submit("t", write("a", Update, "r/g/v")) // it stays known
		m.must(end(m))
		x, _ := m.Session("a")
		if x.Ended != how || x.EndedAt != m.Now() {
			t.Fatalf("%s: %+v", how, x)
		}
		events, err := m.Apply(CloseSession{Stamp: m.tick(), Session: "a"})
		if len(events) != 0 || (err == nil) != (how == closed) {
			t.Errorf("%s, then closed: %v %v", how, events, err)
		}
		if _, err := m.Apply(Renew{Stamp: m.tick(), Session: "a"}); !errors.Is(err, ErrNoSession) {
			t.Errorf("%s, then renewed: %v", how, err)
		}
		m.must(Deceased{Stamp: m.tick(), Session: "a"})
		dead, _ := m.Session("a")
		if events := m.must(Deceased{Stamp: m.tick(), Session: "a"}); len(events) != 0 {
			t.Errorf("%s, and died twice: %v", how, events)
		}
		again, _ := m.Session("a")
		if again.DeadAt != dead.DeadAt || again.EndedAt != x.EndedAt || again.Ended != how || dead.DeadAt == 0 {
			t.Errorf("%s at %d, dead at %d: %+v", how, x.EndedAt, dead.DeadAt, again)
		}
	}
}

// TestPassedOnce: a call that goes on past what is in its way has passed once; when
// it is over it can be passed no more.
func TestPassedOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("h", write("b", Update, "r/g/v"))
	m.submit("t", write("a", Update, "r/g/v"))
	pass := func() ([]Event, error) { return m.Apply(Pass{Stamp: m.tick(), Tx: "t", Mode: "wait"}) }
	if events, err := pass(); err != nil || len(events) == 0 {
		t.Fatal(err)
	}
	if events, err := pass(); err != nil || len(events) != 0 {
		t.Errorf("twice: %v %v", events, err)
	}
	m.finish("t", Succeeded, true)
	if tx, _ := m.Tx("t"); len(tx.Blockers) != 1 || tx.Blockers[0].Holder != "h" || tx.Passed == nil {
		t.Errorf("what it has passed is not on record: %+v", tx.Blockers)
	}
	if events, err := pass(); !errors.Is(err, ErrStatus) {
		t.Errorf("when it is over: %v %v", events, err)
	}
}

// TestPassedRefusal: what was refused and goes on all the same has not ended.
func TestPassedRefusal(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("x", write("a", Delete, "r/g/net"))
	m.finish("x", Succeeded, false)
	q := write("a", Update, "r/g/v")
	q.Nodes, q.Guards = append(q.Nodes, place("r/g/net")...), []Guard{{Kind: Present, Node: "r/g/net"}}
	m.submit("t", q)
	m.want("t", Rejected)
	if tx, _ := m.Tx("t"); tx.EndedAt == 0 {
		t.Error("a refusal has no time")
	}
	m.must(Pass{Stamp: m.tick(), Tx: "t", Mode: "override", By: "ann", Reason: "known better"})
	if tx, _ := m.Tx("t"); tx.EndedAt != 0 || tx.Status != Admitted || len(tx.Blockers) != 1 {
		t.Errorf("%s at %d, past %v", tx.Status, tx.EndedAt, tx.Blockers)
	}
	for _, c := range []Pass{{By: "ann"}, {Reason: "because"}, {}} {
		c.Stamp, c.Tx, c.Mode = m.tick(), "t", "override"
		if _, err := m.Apply(c); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestGoneObjectsAreNotBound: of an object that is not there the call has nothing
// to say: no id is bound and no attributes are told.
func TestGoneObjectsAreNotBound(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	tx := m.submit("t", write("a", Create, "~pending/a/vm"))
	m.must(Start{Stamp: m.tick(), Tx: "t", Token: tx.Token})
	events := m.must(Complete{
		Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Errored, Digest: "d", Bind: graph.Decl{ID: "r/g/vm-1", Parent: "r/g"},
	})
	ended, _ := events[len(events)-1].(TxEnded)
	if ended.Bind.ID != "" || ended.Digest != "" || ended.Tx != "t" || m.graph.Has("r/g/vm-1") {
		t.Errorf("%+v", ended)
	}
}

// TestBindBesideOthers: an id that somebody else's object has by now is a
// collision, however late that object came; and what is bound has the type of the
// call where nothing else is said.
func TestBindBesideOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	tx := m.submit("t", write("a", Create, "~pending/a/vm"))
	m.must(Start{Stamp: m.tick(), Tx: "t", Token: tx.Token})
	m.submit("b1", write("b", Create, "r/g/vm-1"))
	m.finish("b1", Succeeded, true)
	m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Succeeded, Bind: graph.Decl{ID: "r/g/vm-1", Parent: "r/g"}})
	if n, _ := m.graph.Get("r/g/vm-1"); n.Collides != "~pending/a/vm" || n.Owner != "state of b" {
		t.Errorf("%+v", n)
	}
	tx = m.submit("u", write("a", Create, "~pending/a/disk"))
	m.must(Start{Stamp: m.tick(), Tx: "u", Token: tx.Token})
	m.must(Complete{Stamp: m.tick(), Tx: "u", Token: tx.Token, Result: Succeeded, Bind: graph.Decl{ID: "r/g/disk-1", Parent: "r/g"}})
	if n, _ := m.graph.Get("r/g/disk-1"); n.Type != "sim_thing" || n.Owner != "state of a" || n.Collides != "" {
		t.Errorf("%+v", n)
	}
	// A type that is known stays, whatever the next call says.
	q := write("a", Update, "r/g/disk-1")
	q.Type = "another"
	m.submit("v", q)
	m.finish("v", Succeeded, true)
	if n, _ := m.graph.Get("r/g/disk-1"); n.Type != "sim_thing" {
		t.Errorf("its type is %q now", n.Type)
	}
}
