// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// orders are all orders of so many things.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var list [][]int
	for _, o := range orders(n - 1) {
		for at := range n {
			list = append(list, append(append(append([]int{}, o[:at]...), n-1), o[at:]...))
		}
	}
	return list
}

// promise is the create of one object of a ring, which needs the next one.
func promise(i, n, runs int) Request {
	q := write(SessionID(fmt.Sprint(i%runs)), Create, graph.NodeID(fmt.Sprint("r/", i)))
	next := graph.NodeID(fmt.Sprint("r/", (i+1)%n))
	q.Nodes, q.Guards = append(q.Nodes, place(next)...), []Guard{{Kind: Present, Node: next}}
	return q
}

// ring is a machine whose runs have promised objects, which they take turns in.
func ring(t *testing.T, n, runs int) *machine {
	t.Helper()
	m := newMachine(t)
	for r := range runs {
		id := SessionID(fmt.Sprint(r))
		m.must(openCommand(m.tick(), id))
		var made []string
		for i := r; i < n; i += runs {
			made = append(made, fmt.Sprint("r/", i))
		}
		m.must(declareOf(m.tick(), id, made))
	}
	return m
}

// TestPromisesInRings: of creates that wait for each other in a ring the last one
// to come is refused, however long the ring is, in whatever order they come, and
// whether each is of a run of its own or two runs take turns. None is refused
// before the ring is closed.
func TestPromisesInRings(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 5; n++ {
		for _, order := range orders(n) {
			closesAtTheEnd(t, n, n, order)
		}
	}
	up := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	down := []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	mixed := []int{3, 8, 1, 6, 9, 0, 5, 2, 7, 4}
	for _, order := range [][]int{up, down, mixed} {
		closesAtTheEnd(t, 10, 10, order)
		closesAtTheEnd(t, 10, 2, order)
		closesAtTheEnd(t, 10, 5, order)
	}
}

// closesAtTheEnd submits the creates of a ring in an order.
func closesAtTheEnd(t *testing.T, n, runs int, order []int) {
	t.Helper()
	m := ring(t, n, runs)
	for k, i := range order {
		want := Queued
		if k == n-1 {
			want = Rejected
		}
		if tx := m.submit(TxID(fmt.Sprint(i)), promise(i, n, runs)); tx.Status != want {
			t.Fatalf("%d runs in the order %v: %d is %q, want %q", runs, order, i, tx.Status, want)
		}
	}
	if !m.Settled() {
		t.Errorf("%d runs in the order %v: somebody has missed a call", runs, order)
	}
}
