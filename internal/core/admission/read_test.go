// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestWhenReadsSettle: from when on a read settles a call whatever it finds: when
// its sender gives up at the latest, and when all that a dead one has sent has
// landed, if that is earlier. Not a moment before, and from then on.
func TestWhenReadsSettle(t *testing.T) {
	t.Parallel()
	const start = int64(1000e9)
	for name, c := range map[string]struct {
		lands, timeout, dead, want int64 // dead: how long after the start; 0 for never
	}{
		"alive":              {0, 0, 0, DefaultTimeout},
		"alive, impatient":   {7e9, 20e9, 0, 20e9},
		"dead":               {0, 0, 5e9, 5e9 + DefaultLands},
		"dead, slow":         {60e9, 0, 5e9, 65e9},
		"dead too late":      {60e9, 100e9, 90e9, 100e9},
		"dead, quick":        {1, 100e9, 90e9, 90e9 + 1},
		"dead, no more time": {0, 8e9, 5e9, 8e9},
	} {
		m := newMachine(t, "a", "b")
		q := write("a", Update, "r/g/v")
		q.Lands, q.Timeout = c.lands, c.timeout
		tx := m.submit("t", q)
		m.must(Start{Stamp: Stamp{Now: start}, Tx: "t", Token: tx.Token})
		m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Lost})
		if c.dead != 0 {
			m.must(Deceased{Stamp: Stamp{Now: start + c.dead}, Session: "a"})
		}
		if got := m.Readable("t"); got != start+c.want {
			t.Fatalf("%s: from %d on, want %d", name, got-start, c.want)
		}
		m.must(Renew{Stamp: Stamp{Now: start + c.want + 5}, Session: "b"})
		read := Settle{Stamp: m.tick(), Session: "b", Tx: "t", Began: m.Index(), Terminal: true, Exists: true}
		read.BeganAt = start + c.want - 1
		var why *UnsettledError
		if _, err := m.Apply(read); !errors.As(err, &why) || why.Earliest != start+c.want {
			t.Errorf("%s, too early: %v", name, err)
		}
		read.BeganAt++
		if _, err := m.Apply(read); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		m.want("t", Operational)
	}
}

// TestWhatReadsProve: what is there and what is gone proves different things of
// different calls; an operation that goes on proves nothing, and neither does a
// read from before the call or from a time that has not come.
func TestWhatReadsProve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action Action
		change func(*Settle, int64)
		want   error
	}{
		"created":             {Create, func(*Settle, int64) {}, nil},
		"created again":       {Update, func(*Settle, int64) {}, ErrUnsettled},
		"not created":         {Create, func(s *Settle, _ int64) { s.Exists = false }, ErrUnsettled},
		"being created":       {Create, func(s *Settle, _ int64) { s.Terminal = false }, ErrUnsettled},
		"being deleted":       {Delete, func(s *Settle, late int64) { s.Terminal, s.BeganAt = false, late }, ErrUnsettled},
		"being updated":       {Update, func(s *Settle, late int64) { s.Terminal, s.BeganAt = false, late }, ErrUnsettled},
		"gone, and late":      {Delete, func(s *Settle, late int64) { s.Exists, s.Terminal, s.BeganAt = false, false, late }, nil},
		"with the start":      {Create, func(s *Settle, _ int64) { s.Began-- }, nil}, // the start was known
		"before the start":    {Create, func(s *Settle, _ int64) { s.Began -= 2 }, ErrUnsettled},
		"from the next index": {Create, func(s *Settle, _ int64) { s.Began += 2 }, ErrMalformed},
		"from the future":     {Update, func(s *Settle, late int64) { s.BeganAt = late + 100 }, ErrMalformed},
		"by nobody":           {Create, func(s *Settle, _ int64) { s.Session = "x" }, ErrNoSession},
	} {
		m := newMachine(t, "a", "b")
		tx := m.submit("t", write("a", c.action, "r/g/v"))
		m.must(Start{Stamp: m.tick(), Tx: "t", Token: tx.Token})
		m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Lost})
		late := m.Readable("t")
		read := Settle{Session: "b", Tx: "t", Began: m.Index(), BeganAt: m.Now(), Exists: true, Terminal: true}
		m.must(Renew{Stamp: Stamp{Now: late + 9}, Session: "b"})
		read.Stamp = m.tick()
		c.change(&read, late)
		if _, err := m.Apply(read); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want == nil {
			second := read
			second.Exists = !second.Exists
			if events, err := m.Apply(second); err != nil || len(events) != 0 {
				t.Errorf("%s, and a second reader: %v %v", name, events, err)
			}
		}
	}
	// A create of what was there: that it is there says nothing.
	m := newMachine(t, "a", "b")
	m.submit("before", write("a", Create, "r/g/v"))
	m.finish("before", Succeeded, true)
	m.submit("t", write("a", Create, "r/g/v"))
	m.finish("t", Lost, false)
	read := Settle{Stamp: m.tick(), Session: "b", Tx: "t", Began: m.Index(), BeganAt: m.Now(), Exists: true, Terminal: true}
	if _, err := m.Apply(read); !errors.Is(err, ErrUnsettled) {
		t.Errorf("a create of what was there: %v", err)
	}
}

// TestObservationsKeepWhatIsKnown: a read that knows nothing of an attribute takes
// nothing away; that something is gone still is confirmed; and a reference is of
// the object that was read.
func TestObservationsKeepWhatIsKnown(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	decls := place("r/g/v")
	see := func(o Observation) {
		t.Helper()
		o.Decl = decls[2]
		m.must(Observe{Stamp: m.tick(), Session: "b", Began: m.Index(), Nodes: decls[:2], Objects: []Observation{o}})
	}
	see(Observation{Exists: true, Digest: "d", Address: "b.v"})
	first, _ := m.graph.Get("r/g/v")
	see(Observation{Exists: true})
	n, _ := m.graph.Get("r/g/v")
	if n.Digest != "d" || n.Address != "b.v" || n.Version != first.Version || n.ObservedAt != m.Now() || n.Incarnation != 1 {
		t.Errorf("%+v", n)
	}
	see(Observation{})
	gone, _ := m.graph.Get("r/g/v")
	if gone.Lifecycle != graph.Absent || gone.LifeAt != m.Now() {
		t.Errorf("%+v", gone)
	}
	see(Observation{})
	if n, _ = m.graph.Get("r/g/v"); n.ObservedAt != m.Now() || n.LifeAt != gone.LifeAt || n.Version != gone.Version {
		t.Errorf("gone still: %+v", n)
	}
	see(Observation{Exists: true})
	if n, _ = m.graph.Get("r/g/v"); n.LifeAt != m.Now() || n.Incarnation != 2 {
		t.Errorf("made anew outside: %+v", n)
	}
	for _, e := range []graph.Edge{{From: "r/g", To: "r", Kind: graph.Depends}, {From: "r/g/v", Kind: graph.Depends}} {
		o := Observation{Decl: decls[2], Exists: true, Edges: []graph.Edge{e}}
		_, err := m.Apply(Observe{Stamp: m.tick(), Session: "b", Began: m.Index(), Nodes: decls[:2], Objects: []Observation{o}})
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
