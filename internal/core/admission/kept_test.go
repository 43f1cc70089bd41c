// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestRetainedExactly: as many final transactions are kept in full as is said, and
// of the next older one what answers for its key.
func TestRetainedExactly(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("h", write("b", Update, "r/g/v"))
	m.submit("first", write("a", Update, "r/g/v")) // it has a reason to be delayed
	m.must(Withdraw{Stamp: m.tick(), Tx: "first"})
	end := func(i int) {
		id := TxID(fmt.Sprint("t", i))
		m.submit(id, write("a", Update, "r/g/w"))
		m.must(Withdraw{Stamp: m.tick(), Tx: id})
	}
	for i := range Retained - 1 {
		end(i)
	}
	if tx, _ := m.Tx("first"); len(tx.Locks) == 0 || len(tx.Delayed) != 1 || tx.Delayed[0].Holder != "h" {
		t.Errorf("the last that is kept: %d locks, delayed by %v", len(tx.Locks), tx.Delayed)
	}
	end(Retained)
	tx, ok := m.Tx("first")
	if !ok || tx.Locks != nil || tx.Delayed != nil || tx.Nodes != nil || tx.Session != "a" || tx.Status != Withdrawn {
		t.Errorf("the first that is not: %+v", tx)
	}
}

// TestStaleIsKeptOnce: what was submitted again and has ended counts once among
// what is kept.
func TestStaleIsKeptOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("x", write("b", Update, "r/g/v"))
	m.finish("x", Succeeded, true)
	q := write("a", Update, "r/g/v")
	q.Guards = []Guard{{Kind: Version, Node: "r/g/v", Value: 9}}
	first := m.submit("t", q)
	for range 3 {
		m.submit("t", q)
		m.want("t", Stale)
	}
	q.Guards = nil
	if tx := m.submit("t", q); tx.SubmittedAt != first.SubmittedAt || tx.Ticket != first.Ticket {
		t.Errorf("submitted at %d with ticket %d, first at %d with %d", tx.SubmittedAt, tx.Ticket, first.SubmittedAt, first.Ticket)
	}
	m.finish("t", Succeeded, true)
	count := 0
	for _, id := range m.retired.Items() {
		if id == "t" {
			count++
		}
	}
	if count != 1 || m.retired.Len() != 2 {
		t.Errorf("kept %d times: %v", count, m.retired.Items())
	}
}

// TestStaleAgain: whoever submits a stale transaction again is the session that it
// is of, under the same key; its place is kept for as long as is said, to the
// moment.
func TestStaleAgain(t *testing.T) {
	t.Parallel()
	stale := func() (*machine, Request, Tx) {
		m := newMachine(t, "a", "b")
		m.submit("x", write("b", Update, "r/g/v"))
		m.finish("x", Succeeded, true)
		q := write("a", Update, "r/g/v")
		q.Key, q.Guards = 5, []Guard{{Kind: Version, Node: "r/g/v", Value: 9}}
		tx := m.submit("t", q)
		m.submit("y", write("b", Update, "r/g/w"))
		q.Guards = nil
		return m, q, tx
	}
	for name, c := range map[string]struct {
		change func(*Request)
		after  int64
		want   error
		kept   bool
	}{
		"at once":         {func(*Request) {}, 3, nil, true},
		"at the end":      {func(*Request) {}, StaleGrace, nil, true},
		"too late":        {func(*Request) {}, StaleGrace + 1, nil, false},
		"another key":     {func(q *Request) { q.Key = 6 }, 3, ErrDuplicate, false},
		"without a key":   {func(q *Request) { q.Key = 0 }, 3, ErrDuplicate, false},
		"another session": {func(q *Request) { q.Session = "b" }, 3, ErrDuplicate, false},
	} {
		m, q, old := stale()
		c.change(&q)
		_, err := m.Apply(Submit{Stamp: Stamp{Now: old.EndedAt + c.after}, ID: "t", Request: q})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if tx, _ := m.Tx("t"); err == nil && (tx.Ticket == old.Ticket) != c.kept {
			t.Errorf("%s: ticket %d, was %d", name, tx.Ticket, old.Ticket)
		}
		m.submit("z", write("b", Update, "r/g/x"))
		if z, _ := m.Tx("z"); z.Ticket <= 3 {
			t.Errorf("%s: ticket %d was given twice", name, z.Ticket)
		}
	}
}

// TestSessionsComeAgain: a session that was forgotten leaves nothing behind under
// its name: another one of that name has other keys.
func TestSessionsComeAgain(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	q := write("a", Update, "r/g/v")
	q.Key = 1
	m.submit("first", q)
	m.must(CloseSession{Stamp: m.tick(), Session: "a"})
	for i := range Retained + 1 {
		id := TxID(fmt.Sprint("t", i))
		m.submit(id, write("b", Update, "r/g/w"))
		m.must(Withdraw{Stamp: m.tick(), Tx: id})
	}
	if _, ok := m.Session("a"); ok {
		t.Fatal("the session is kept")
	}
	m.must(openCommand(m.tick(), "a"))
	if tx, ok := m.TxByKey("a", 1); ok {
		t.Errorf("its keys are kept: %+v", tx)
	}
	m.submit("second", q)
	if tx, ok := m.TxByKey("a", 1); !ok || tx.ID != "second" {
		t.Errorf("%t %+v", ok, tx)
	}
	if back, err := reread(m.State); err != nil || back.Hash() != m.Hash() {
		t.Errorf("the snapshot differs: %v", err)
	}
}

// TestCallsComeAgain: a planned call that has ended may be submitted again, also
// behind a snapshot, and one that has not, not.
func TestCallsComeAgain(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("p", Request{
		Session: "a", Action: Reserve, Nodes: place("r/g/v"),
		Calls: []Planned{{ID: "c", Self: "r/g/v", Action: Update, Locks: write("a", Update, "r/g/v").Locks}},
	})
	m.submit("c1", planned(write("a", Update, "r/g/v"), "p", "c"))
	again := Submit{ID: "c2", Request: planned(write("a", Update, "r/g/v"), "p", "c")}
	for _, ended := range []bool{false, true} {
		if ended {
			m.must(Withdraw{Stamp: m.tick(), Tx: "c1"})
		}
		back, err := reread(m.State)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]*State{"state": m.Clone(), "snapshot": back} {
			again.Stamp = m.tick()
			if _, err := s.Apply(again); ended != (err == nil) || err != nil && !errors.Is(err, ErrDuplicate) {
				t.Errorf("%s, ended %t: %v", name, ended, err)
			}
		}
	}
}

// TestPromisesAreTheFirst: a node names the first of those that have declared it;
// what a declaration names must be placed, and what it places is, though nothing
// else is new.
func TestPromisesAreTheFirst(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b", "c")
	by := func() string { n, _ := m.graph.Get("r/g/v"); return n.DeclaredBy }
	for i, c := range []struct {
		session SessionID
		paths   []string
		want    string
	}{
		{"b", []string{"r/g/v"}, "b"}, {"c", []string{"r/g/v"}, "b"}, {"a", []string{"r/g/v"}, "a"}, {"b", nil, "a"}, {"a", nil, "c"}, {"c", nil, ""},
	} {
		m.must(declareOf(m.tick(), c.session, c.paths))
		if got := by(); got != c.want {
			t.Errorf("step %d: declared by %q, want %q", i, got, c.want)
		}
	}
	m.must(Declare{Stamp: m.tick(), Session: "a", Creates: place("r/g/x")})
	if !m.graph.Has("r/g/x") {
		t.Error("what is declared with nothing to create is not placed")
	}
	c := Declare{Stamp: m.tick(), Session: "a", Creates: place("r/g/y"), Selves: []graph.NodeID{"r/g/z"}}
	if _, err := m.Apply(c); !errors.Is(err, ErrUndeclared) {
		t.Errorf("a node that nothing places: %v", err)
	}
}

// TestHashSeesCounters: tickets and tokens that were given are part of the state,
// though nothing names them any more.
func TestHashSeesCounters(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("t", write("a", Update, "r/g/v"))
	for name, change := range map[string]func(*State){
		"index": func(s *State) { s.index++ }, "now": func(s *State) { s.now++ },
		"ticket": func(s *State) { s.ticket++ }, "token": func(s *State) { s.token++ },
		"read":    func(s *State) { s.read.Set(&s.owner, escrow.Key("q"), 7) },
		"retired": func(s *State) { s.retired.Append(&s.owner, "t") },
	} {
		c := m.Clone()
		change(c)
		if c.Hash() == m.Hash() {
			t.Errorf("%s makes no difference", name)
		}
		back, err := reread(c)
		if err != nil || back.Hash() != c.Hash() {
			t.Errorf("%s is lost in a snapshot: %v", name, err)
		}
	}
}

// TestPendingNodesStayWhileClaimed: what a claim of another run names is not removed
// under it, though no call has come to it yet.
func TestPendingNodesStayWhileClaimed(t *testing.T) {
	t.Parallel()
	for _, claimed := range []bool{false, true} {
		m := newMachine(t, "a", "b")
		const pending = graph.NodeID("~pending/a/vm")
		x, y := write("b", Delete, "r/x"), write("b", Update, pending)
		m.submit("p", Request{
			Session: "b", Action: Reserve, Nodes: append(x.Nodes, y.Nodes...),
			Calls: []Planned{
				{ID: "x", Self: "r/x", Action: Delete, Locks: x.Locks, Group: "g"},
				{ID: "y", Self: pending, Action: Update, Locks: y.Locks, Group: "g"},
			},
		})
		if claimed {
			m.submit("x", planned(x, "p", "x"))
		}
		m.must(CloseSession{Stamp: m.tick(), Session: "a"})
		if _, known := m.Session("a"); known || m.graph.Has(pending) != claimed {
			t.Errorf("claimed %t: kept %t", claimed, m.graph.Has(pending))
		}
	}
}
