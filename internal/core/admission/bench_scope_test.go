// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// deep is the path of an object five levels below its realm: an exclusive lock
// on it is a plan of six. A network has 1,000 objects.
func deep(i int) graph.NodeID {
	return graph.NodeID(fmt.Sprintf("realm/location-%d/group-%03d/network-%d/subnet-%d/object-%07d", i%4, i/10_000, i/1000%10, i/500%2, i))
}

// populated is a machine whose graph has about so many nodes, all observed.
func populated(tb testing.TB, nodes int) *State {
	tb.Helper()
	s := New()
	apply := func(c Command) {
		if _, err := s.Apply(c); err != nil {
			tb.Fatal(err)
		}
	}
	apply(openCommand(Stamp{Now: 1}, "a"))
	apply(openCommand(Stamp{Now: 1}, "b"))
	for i := 0; s.graph.Len() < nodes; {
		see := Observe{Stamp: Stamp{Now: s.now + 1}, Session: "a", Began: s.index}
		for range min(1000, nodes-s.graph.Len()) {
			decls := place(deep(i))
			last := len(decls) - 1
			see.Nodes = append(see.Nodes, decls[:last]...)
			see.Objects = append(see.Objects, Observation{
				Decl: decls[last], Exists: true, Edges: []graph.Edge{},
				Address: fmt.Sprintf("module.of[%q].object.this[%d]", decls[1].ID, i), Digest: fmt.Sprintf("%064x", i),
			})
			i++
		}
		apply(see)
	}
	return s
}

// hold lets calls of another session begin, until there are so many of them.
func hold(tb testing.TB, s *State, nodes, from, to int) {
	tb.Helper()
	for i := from; i < to; i++ {
		id := TxID(fmt.Sprintf("held-%d", i))
		c := Submit{Stamp: Stamp{Now: s.now + 1}, ID: id, Request: write("b", Update, deep(nodes/2+i))}
		if _, err := s.Apply(c); err != nil {
			tb.Fatal(err)
		}
		if tx, _ := s.Tx(id); tx.Status != Admitted {
			tb.Fatalf("%s is %s", id, tx.Status)
		}
	}
}

// tally counts the nodes that the graph and the lock tables look at.
type tally struct {
	looks int
	nodes map[graph.NodeID]bool
}

func (t *tally) of(s *State, f func()) *tally {
	t.nodes = map[graph.NodeID]bool{}
	note := func(id graph.NodeID) { t.looks, t.nodes[id] = t.looks+1, true }
	traced := []interface{ Trace(func(graph.NodeID)) }{s.graph, s.locks, s.claimed}
	for _, x := range traced {
		x.Trace(note)
		defer x.Trace(nil)
	}
	f()
	return t
}

// touched is what one operation looks at, from Submit to the answer.
func touched(tb testing.TB, s *State, q Request) *tally {
	tb.Helper()
	var t tally
	return t.of(s, func() { carry(tb, s, TxID(fmt.Sprint("counted at ", s.index)), q) })
}

func carry(tb testing.TB, s *State, id TxID, q Request) {
	at := Stamp{Now: s.now + 1}
	if _, err := s.Apply(Submit{Stamp: at, ID: id, Request: q}); err != nil {
		tb.Fatal(err)
	}
	token := s.txs.Get(id).Token
	if _, err := s.Apply(Start{Stamp: at, Tx: id, Token: token}); err != nil {
		tb.Fatal(err)
	}
	if _, err := s.Apply(Complete{Stamp: at, Tx: id, Token: token, Result: Succeeded}); err != nil {
		tb.Fatal(err)
	}
}

// scoped are operations of each kind on objects of their own.
func scoped() []Request {
	update, create, remove := write("a", Update, deep(1)), write("a", Create, deep(2)+"/new"), write("a", Delete, deep(3))
	refer := write("a", Update, deep(4))
	refer.Edges = []graph.Edge{{From: deep(4), To: deep(5), Kind: graph.References}}
	refer.Nodes = append(refer.Nodes, place(deep(5))...)
	remove.Guards = []Guard{{Kind: Unreferenced, Node: deep(3)}}
	create.Guards = []Guard{{Kind: Present, Node: deep(2)}}
	return []Request{update, create, remove, refer}
}

// TestScope: how many nodes an operation looks at depends on its own plan, and
// neither on how large the cloud is nor on how much of it others hold.
func TestScope(t *testing.T) {
	t.Parallel()
	var want []string
	for nodes, held := range map[int]int{1000: 300, 100_000: 5000} {
		for s, n := populated(t, nodes), 0; n <= held; n += held {
			hold(t, s, nodes, 0, n)
			var got []string
			for _, q := range scoped() {
				c := touched(t, s.Clone(), q)
				got = append(got, fmt.Sprintf("%s: %d looks at %d nodes", q.Action, c.looks, len(c.nodes)))
				if least := len(q.Locks); len(c.nodes) < least || len(c.nodes) > least+8 {
					t.Errorf("%d nodes of a plan of %d", len(c.nodes), least)
				}
			}
			if want == nil {
				want = got
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d nodes, %d held: %v, not %v", nodes, n, got, want)
			}
		}
	}
}
