// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// guarded is whether a call of b under one guard is admitted, refused or stale.
func (m *machine) guarded(g Guard) Status {
	m.t.Helper()
	q := write("b", Update, "r/other")
	q.Nodes, q.Guards = append(q.Nodes, place(g.Node)...), []Guard{g}
	id := TxID(fmt.Sprint("guarded ", m.Index()))
	tx := m.submit(id, q)
	if tx.Status == Admitted {
		m.must(Withdraw{Stamp: m.tick(), Tx: id})
	}
	return tx.Status
}

// TestPlannedAtTheMoment: a plan that is as old as the life it is about knows it;
// one that is older does not, for a life that began and for one that ended.
func TestPlannedAtTheMoment(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	for _, action := range []Action{Create, Delete} {
		id := TxID(action)
		m.submit(id, write("a", action, "r/g/v"))
		m.finish(id, Succeeded, action == Create)
		at := uint64(m.Now())
		for value, want := range map[uint64]Status{at - 1: Rejected, at: Admitted, at + 1: Admitted} {
			if got := m.guarded(Guard{Kind: PlannedAt, Node: "r/g/v", Value: value}); got != want {
				t.Errorf("%s at %d, planned at %d: %s", action, at, value, got)
			}
		}
	}
}

// TestGuardsFollowTheBinding: a guard on a name or on a pending node is about the
// object that it was bound to.
func TestGuardsFollowTheBinding(t *testing.T) {
	t.Parallel()
	for _, self := range []graph.NodeID{"~pending/a/vm", "r/g/~name/vm/web"} {
		m := newMachine(t, "a", "b")
		tx := m.submit("t", write("a", Create, self))
		m.start("t")
		m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Succeeded, Bind: graph.Decl{ID: "r/g/vm-1", Parent: "r/g"}})
		for g, want := range map[Guard]Status{
			{Kind: Present, Node: self}: Admitted, {Kind: SameLife, Node: self, Value: 1}: Admitted, {Kind: SameLife, Node: self}: Rejected,
		} {
			if got := m.guarded(g); got != want {
				t.Errorf("%+v: %s", g, got)
			}
		}
		m.submit("d", write("a", Delete, "r/g/vm-1"))
		m.finish("d", Succeeded, false)
		for g, want := range map[Guard]Status{{Kind: Present, Node: self}: Rejected, {Kind: SameLife, Node: self, Value: 1}: Rejected} {
			if got := m.guarded(g); got != want {
				t.Errorf("%+v, of what is gone: %s", g, got)
			}
		}
	}
}

// TestForeignObjects: what belongs to another state keeps what contains it; not
// what only stood for it until the cloud had chosen its id.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	object := graph.Node{Decl: graph.Decl{ID: "x", Kind: graph.Resource}, Lifecycle: graph.Operational, Owner: "theirs"}
	for name, c := range map[string]struct {
		change func(*graph.Node)
		want   bool
	}{
		"theirs":    {func(*graph.Node) {}, true},
		"lost":      {func(n *graph.Node) { n.Lifecycle = graph.Uncertain }, true},
		"ours":      {func(n *graph.Node) { n.Owner = "ours" }, false},
		"nobody's":  {func(n *graph.Node) { n.Owner = "" }, false},
		"gone":      {func(n *graph.Node) { n.Lifecycle = graph.Absent }, false},
		"unknown":   {func(n *graph.Node) { n.Lifecycle = graph.Unknown }, false},
		"bound":     {func(n *graph.Node) { n.BoundTo = "y" }, false},
		"a name":    {func(n *graph.Node) { n.Kind = graph.Name }, false},
		"a facet":   {func(n *graph.Node) { n.Kind = graph.Facet }, false},
		"a pending": {func(n *graph.Node) { n.Kind = graph.Pending }, false},
	} {
		n := object
		c.change(&n)
		if got := foreignObject(&n, "ours"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
