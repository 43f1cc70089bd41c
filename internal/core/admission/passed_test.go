// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestGraveLeavesWhatIsChanged: an object that goes takes along what is in it, and
// leaves what a call is changing there, which somebody has let pass, to that call.
func TestGraveLeavesWhatIsChanged(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	for _, path := range []graph.NodeID{"r/net", "r/net/one", "r/net/two"} {
		m.submit(TxID(path), write("a", Create, path))
		m.finish(TxID(path), Succeeded, true)
	}
	m.submit("u", write("a", Update, "r/net/one"))
	m.start("u")
	m.submit("d", write("b", Delete, "r/net"))
	m.must(Pass{Stamp: m.tick(), Tx: "d", Mode: "override", By: "ann", Reason: "known to be idle"})
	m.finish("d", Succeeded, false)
	for path, want := range map[graph.NodeID]graph.Lifecycle{"r/net": graph.Absent, "r/net/one": graph.Updating, "r/net/two": graph.Absent} {
		if n, _ := m.graph.Get(path); n.Lifecycle != want || (n.Owner == "") != (want == graph.Absent) {
			t.Errorf("%s is %q of %q", path, n.Lifecycle, n.Owner)
		}
	}
	m.must(Complete{Stamp: m.tick(), Tx: "u", Token: m.txToken("u"), Result: Lost})
	if n, _ := m.graph.Get("r/net/one"); n.Lifecycle != graph.Uncertain {
		t.Errorf("it is %q now", n.Lifecycle)
	}
}

// TestPassedTakesWhatItNeeds: a call that passes takes from the reservation of its
// plan what it really needs, where that is to be had.
func TestPassedTakesWhatItNeeds(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(9), Use: escrow.At(0)}}})
	create := write("a", Create, "r/v")
	m.submit("p", Request{
		Session: "a", Action: Reserve, Nodes: create.Nodes,
		Calls: []Planned{{ID: "c", Self: "r/v", Action: Create, Locks: create.Locks, Effects: escrow.Effects{{Bucket: "q", Amount: 2}}}},
	})
	m.submit("h", write("b", Update, "r/v"))
	q := planned(create, "p", "c")
	q.Effects = escrow.Effects{{Bucket: "q", Amount: 5}}
	m.submit("c", q)
	m.must(Pass{Stamp: m.tick(), Tx: "c", Mode: "wait"})
	if l := m.Capacity().Level("q"); l.Plus != 5 {
		t.Errorf("%d are held", l.Plus)
	}
	m.finish("c", Succeeded, true)
	if l := m.Capacity().Level("q"); l.Plus != 0 || l.High != 5 {
		t.Errorf("%d are held, %d in use", l.Plus, l.High)
	}
}

// TestPassedRevivesNoOther: whoever passes the refusal of a call takes back what
// that meant for the calls behind it. What another one has ended for stays so:
// one that failed or was given up, and one whose outcome was lost.
func TestPassedRevivesNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(m *machine)
		want string // the phases of: first, refused, behind both, behind the refused
	}{
		"nothing":   {func(*machine) {}, "pppp"},
		"failed":    {func(m *machine) { m.finish("first", Errored, false) }, "xpxp"},
		"withdrawn": {func(m *machine) { m.must(Withdraw{Stamp: m.tick(), Tx: "first"}) }, "xpxp"},
		"lost":      {func(m *machine) { m.finish("first", Lost, false) }, "rpxp"},
		"succeeded": {func(m *machine) { m.finish("first", Succeeded, true) }, "dppp"},
	} {
		m := newMachine(t, "a")
		m.submit("x", write("a", Delete, "r/gone"))
		m.finish("x", Succeeded, false)
		p := Request{Session: "a", Action: Reserve, Nodes: place("r/gone")}
		for i, after := range [][]CallID{nil, nil, {"0", "1"}, {"1"}} {
			path := graph.NodeID(fmt.Sprint("r/c", i))
			p.Nodes = append(p.Nodes, place(path)...)
			p.Calls = append(p.Calls, Planned{ID: CallID(fmt.Sprint(i)), Self: path, Action: Update, Locks: write("a", Update, path).Locks, After: after})
		}
		m.submit("p", p)
		m.submit("first", planned(write("a", Update, "r/c0"), "p", "0"))
		q := planned(write("a", Update, "r/c1"), "p", "1")
		q.Nodes, q.Guards = append(q.Nodes, place("r/gone")...), []Guard{{Kind: Present, Node: "r/gone"}}
		m.submit("refused", q)
		m.want("refused", Rejected)
		c.end(m)
		m.must(Pass{Stamp: m.tick(), Tx: "refused", Mode: "override", By: "ann", Reason: "known better"})
		if got := m.plans.Get("p").marks(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
