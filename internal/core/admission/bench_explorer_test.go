// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// small is a machine as an explorer of the state space has it: two sessions, 15
// nodes, and so many transactions of which half hold their locks.
func small(b *testing.B, txs int) *State {
	b.Helper()
	s := New()
	apply := func(c Command) {
		if _, err := s.Apply(c); err != nil {
			b.Fatal(err)
		}
	}
	apply(openCommand(Stamp{Now: 1}, "a"))
	apply(openCommand(Stamp{Now: 1}, "b"))
	see := Observe{Stamp: Stamp{Now: 2}, Session: "a", Began: 1}
	for i := range 13 {
		decls := place(graph.NodeID(fmt.Sprintf("r/g/x%d", i)))
		see.Nodes = append(see.Nodes, decls[:2]...)
		see.Objects = append(see.Objects, Observation{Decl: decls[2], Exists: true, Edges: []graph.Edge{}})
	}
	apply(see)
	for i := range txs {
		apply(Submit{Stamp: Stamp{Now: 3}, ID: TxID(fmt.Sprintf("t%d", i)), Request: smallWrite(i)})
	}
	return s
}

// smallWrite is one of the requests of small: two sessions that contend for
// each second object.
func smallWrite(i int) Request {
	return write(SessionID("ab"[i%2:i%2+1]), Update, graph.NodeID(fmt.Sprintf("r/g/x%d", i/2)))
}

// BenchmarkExplorerStep is what an explorer does for each state that it reaches:
// copy the state, make one step in the copy, and identify what came of it.
func BenchmarkExplorerStep(b *testing.B) {
	const txs = 6
	parent := small(b, txs)
	tx, _ := parent.Tx("t0")
	started := parent.Clone()
	start := Start{Stamp: Stamp{Now: 4}, Tx: "t0", Token: tx.Token}
	if _, err := started.Apply(start); err != nil {
		b.Fatal(err)
	}
	steps := []struct {
		name  string
		state *State
		step  Command
	}{
		{"submit", parent, Submit{Stamp: Stamp{Now: 4}, ID: "t9", Request: smallWrite(9)}},
		{"start", parent, start},
		{"complete", started, Complete{Stamp: Stamp{Now: 5}, Tx: "t0", Token: tx.Token, Result: Succeeded}},
	}
	for _, x := range steps {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				next := x.state.Clone()
				if _, err := next.Apply(x.step); err != nil {
					b.Fatal(err)
				}
				_ = next.Fingerprint()
			}
		})
	}
	b.Run("clone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = parent.Clone()
		}
	})
	b.Run("fingerprint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = parent.Fingerprint()
		}
	})
}
