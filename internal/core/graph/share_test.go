// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHistoriesPart: two copies of a node remember different changes, however
// long the history that they share is.
func TestHistoriesPart(t *testing.T) {
	t.Parallel()
	var n Node
	for i := range HistoryLimit + 2 {
		a, b := n, n
		a.Remember(Change{Session: "a"})
		b.Remember(Change{Session: "b"})
		for _, x := range []*Node{&a, &b} {
			last, _ := x.LastChange()
			if want := map[*Node]string{&a: "a", &b: "b"}[x]; last.Session != want {
				t.Fatalf("behind %d entries, %s remembers what %s did", i, want, last.Session)
			}
		}
		n.Remember(Change{At: int64(i)})
	}
}

// TestListsAreHandedOut: the references that were handed out stay as they were,
// whatever is done to the graph since.
func TestListsAreHandedOut(t *testing.T) {
	t.Parallel()
	g := sample(t)
	var want []Edge
	for i := range 9 {
		e := Edge{From: "r/g", To: NodeID(fmt.Sprint("t", i)), Kind: Depends}
		g.AddEdge(e)
		want = append(want, e)
		g.AddEdge(Edge{From: NodeID(fmt.Sprint("f", i)), To: "q/x", Kind: Depends})
	}
	out, in := g.Out("r/g"), g.In("q/x")
	from := g.In("q/x")
	for _, e := range append(g.Out("r/g"), from...) {
		g.RemoveEdge(e)
	}
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(from, in); d != "" || len(in) != 9 {
		t.Error(d)
	}
	if g.EdgeCount() != 0 || len(g.Edges()) != 0 {
		t.Errorf("%d references are left: %v", g.EdgeCount(), g.Edges())
	}
}

// TestSetEdgesLeavesNone: all old references go, also those that stand beside each
// other.
func TestSetEdgesLeavesNone(t *testing.T) {
	t.Parallel()
	g := sample(t)
	var old []Edge
	for i := range 7 {
		old = append(old, Edge{From: "r/g", To: NodeID(fmt.Sprint("t", i)), Kind: Depends})
	}
	if !g.SetEdges("r/g", old) || g.EdgeCount() != len(old) {
		t.Fatalf("%d references", g.EdgeCount())
	}
	kept := []Edge{old[3], {From: "r/g", To: "q", Kind: Routes}}
	if !g.SetEdges("r/g", kept) || g.EdgeCount() != 2 || !g.HasEdge(kept[0]) || !g.HasEdge(kept[1]) {
		t.Errorf("%v", g.Edges())
	}
	if g.SetEdges("r/g", kept) {
		t.Error("the same again is a change")
	}
	if !g.SetEdges("r/g", nil) || len(g.Edges()) != 0 || len(g.In("t3")) != 0 {
		t.Errorf("%v", g.Edges())
	}
}

// TestRemovedPending: a node that was removed is in no list any more.
func TestRemovedPending(t *testing.T) {
	t.Parallel()
	g := sample(t)
	p := Decl{ID: PendingOf("s", "vm.a"), Parent: "r/g", Kind: Pending}
	for range 2 {
		if err := g.Place([]Decl{p}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]NodeID{p.ID}, g.Pending()); d != "" {
			t.Error(d)
		}
		g.Remove(p.ID)
		if list := g.Pending(); len(list) != 0 {
			t.Errorf("%v are pending", list)
		}
	}
	g.Remove("r/g/v/s1") // no such one
	if len(g.Pending()) != 0 || g.Has("r/g/v/s1") {
		t.Error("the other kind")
	}
}

// TestContainsItself: also of what nobody has placed, such as a node that only a
// bucket names.
func TestContainsItself(t *testing.T) {
	t.Parallel()
	g := sample(t)
	for _, id := range []NodeID{"r", "r/g/v", "nobody"} {
		if !g.Contains(id, id) {
			t.Errorf("%s does not contain itself", id)
		}
	}
	if g.Contains("nobody", "r") || g.Contains("r", "nobody") {
		t.Error("what is not placed contains nothing, and stands in nothing")
	}
}

// TestStoredTwice: a node that is stored twice has one place. Damage is told, and
// not made up for.
func TestStoredTwice(t *testing.T) {
	t.Parallel()
	const realms = `{"id":"r","kind":"realm"},{"id":"q","kind":"realm"},{"id":"x","parent":"r","kind":"resource"}`
	for name, c := range map[string]struct {
		node string
		want error
	}{
		"the same":       {`{"id":"x","parent":"r","kind":"resource","version":3}`, nil},
		"another parent": {`{"id":"x","parent":"q","kind":"resource"}`, ErrMisplaced},
		"another kind":   {`{"id":"x","parent":"r","kind":"pending"}`, ErrShape},
		"no node":        {`null`, ErrShape},
		"no id":          {`{"kind":"realm"}`, ErrShape},
	} {
		g := New()
		err := json.Unmarshal([]byte(`{"nodes":[`+realms+`,`+c.node+`],"edges":[]}`), g)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && g.Len() != 0 {
			t.Errorf("%s: something was read", name)
		}
	}
}

// TestByIDLooksAtNodes: who counts what is looked at counts this too.
func TestByIDLooksAtNodes(t *testing.T) {
	t.Parallel()
	g := sample(t)
	var seen, named []NodeID
	g.Trace(func(id NodeID) { named = append(named, id) })
	for n := range g.ByID {
		seen = append(seen, n.ID)
	}
	if d := cmp.Diff(seen, named); d != "" || len(seen) != g.Len() {
		t.Error(d)
	}
	named = nil
	for range g.ByID {
		break
	}
	if d := cmp.Diff(seen[:1], named); d != "" {
		t.Errorf("one was asked for: %s", d)
	}
}

// TestPendingIsLoaded: what stands for an object is known to, whatever has become
// of that, when the graph is read.
func TestPendingIsLoaded(t *testing.T) {
	t.Parallel()
	g := sample(t)
	for _, l := range []Lifecycle{Unknown, Creating, Operational, Absent, Uncertain} {
		id := PendingOf("s", "vm."+string(l))
		if err := g.Place([]Decl{{ID: id, Parent: "r/g", Kind: Pending}}); err != nil {
			t.Fatal(err)
		}
		g.Update(id, func(n *Node) { n.Lifecycle = l })
	}
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	back := New()
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(g.Pending(), back.Pending()); d != "" || len(g.Pending()) != 5 {
		t.Error(d)
	}
}
