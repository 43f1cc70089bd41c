// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// large is a machine whose graph has about n objects in 100 groups of one
// realm, all observed.
func large(b *testing.B, n int) *State {
	b.Helper()
	s := New()
	c := openCommand(Stamp{Now: 1}, "a")
	if _, err := s.Apply(c); err != nil {
		b.Fatal(err)
	}
	see := Observe{Stamp: Stamp{Now: 2}, Session: "a", Began: 1}
	for i := range n {
		decls := place(pathOf(i))
		see.Nodes = append(see.Nodes, decls[:len(decls)-1]...)
		see.Objects = append(see.Objects, Observation{Decl: decls[len(decls)-1], Exists: true, Edges: []graph.Edge{}})
	}
	if _, err := s.Apply(see); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkOperation is one undisturbed operation, from Submit to the answer.
func BenchmarkOperation(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			s := large(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				operate(b, s, i, write("a", Update, pathOf(i%n)))
			}
		})
	}
}

func operate(b *testing.B, s *State, i int, q Request) {
	id := TxID(fmt.Sprintf("t%d", i))
	at := Stamp{Now: s.Now() + 1}
	if _, err := s.Apply(Submit{Stamp: at, ID: id, Request: q}); err != nil {
		b.Fatal(err)
	}
	tx, _ := s.Tx(id)
	if _, err := s.Apply(Start{Stamp: at, Tx: id, Token: tx.Token}); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Apply(Complete{Stamp: at, Tx: id, Token: tx.Token, Result: Succeeded}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCrowd is one undisturbed operation beside many that hold locks and
// many that wait.
func BenchmarkCrowd(b *testing.B) {
	for _, waiters := range []int{0, 100, 1000} {
		b.Run(fmt.Sprintf("holders=1000,waiters=%d", waiters), func(b *testing.B) {
			s := large(b, 10_000)
			for i := range 1000 + waiters {
				id := TxID(fmt.Sprintf("w%d", i))
				q := write("a", Update, pathOf(i%1000))
				if _, err := s.Apply(Submit{Stamp: Stamp{Now: s.Now() + 1}, ID: id, Request: q}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				operate(b, s, i, write("a", Update, pathOf(5000+i%1000)))
			}
		})
	}
}

// BenchmarkFold replays the three records of one operation on a replica.
func BenchmarkFold(b *testing.B) {
	const ops = 1000
	s := large(b, 10_000)
	replica := s.Clone()
	type record struct {
		index  uint64
		now    int64
		events []Event
	}
	var records []record
	apply := func(c Command) {
		events, err := s.Apply(c)
		if err != nil {
			b.Fatal(err)
		}
		records = append(records, record{s.Index(), s.Now(), events})
	}
	for i := range ops {
		id := TxID(fmt.Sprintf("t%d", i))
		at := Stamp{Now: s.Now() + 1}
		apply(Submit{Stamp: at, ID: id, Request: write("a", Update, pathOf(i))})
		tx, _ := s.Tx(id)
		apply(Start{Stamp: at, Tx: id, Token: tx.Token})
		apply(Complete{Stamp: at, Tx: id, Token: tx.Token, Result: Succeeded})
	}
	for b.Loop() {
		c := replica.Clone()
		for _, r := range records {
			if err := c.Fold(r.index, r.now, r.events); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ops, "ns/operation")
}
