// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Notice is what a session that watches is told. Notices follow from two views
// and nothing else: that something happened which they do not show is not told,
// nor when.
type Notice struct {
	// Kind is "node", "edge", "lock", "capacity" or "call".
	Kind string `json:"kind"`
	// What is "appeared", "changed" or "gone".
	What string `json:"what"`
	// One of these is set: how it is, or, of what is gone, how it was.
	Node     *Node   `json:"node,omitempty"`
	Edge     *Edge   `json:"edge,omitempty"`
	Lock     *Lock   `json:"lock,omitempty"`
	Capacity *Bucket `json:"capacity,omitempty"`
	Call     *Call   `json:"call,omitempty"`
}

// Notices tells what is different in a later view of the same session. An event
// of the coordinator reaches a session in this form alone.
func Notices(before, after View) []Notice {
	var list []Notice
	list = append(list, changes("node", before.Nodes, after.Nodes,
		func(n Node) LocalID { return n.ID }, func(t *Notice, n *Node) { t.Node = n })...)
	list = append(list, changes("edge", before.Edges, after.Edges,
		func(e Edge) Edge { return e }, func(t *Notice, e *Edge) { t.Edge = e })...)
	list = append(list, changes("lock", before.Locks, after.Locks,
		func(h Lock) Lock { h.Mode = ""; return h }, func(t *Notice, h *Lock) { t.Lock = h })...)
	list = append(list, changes("capacity", before.Capacity, after.Capacity,
		func(b Bucket) [2]string { return [2]string{string(b.Node), b.Name} }, func(t *Notice, b *Bucket) { t.Capacity = b })...)
	return append(list, changes("call", before.Calls, after.Calls,
		func(c Call) admission.TxID { return c.ID }, func(t *Notice, c *Call) { t.Call = c })...)
}

// changes compares two lists whose elements are known by a key: first what is
// new or different, in the order of the new list, then what is gone.
func changes[T any, K comparable](kind string, before, after []T, key func(T) K, set func(*Notice, *T)) []Notice {
	var list []Notice
	add := func(what string, x T) {
		n := Notice{Kind: kind, What: what}
		set(&n, &x)
		list = append(list, n)
	}
	old := make(map[K]T, len(before))
	for _, x := range before {
		old[key(x)] = x
	}
	now := make(map[K]bool, len(after))
	for _, x := range after {
		k := key(x)
		now[k] = true
		if was, ok := old[k]; !ok {
			add("appeared", x)
		} else if !same(was, x) {
			add("changed", x)
		}
	}
	for _, x := range before {
		if k := key(x); !now[k] {
			add("gone", x)
		}
	}
	return list
}

// same compares two elements of a view.
func same(a, b any) bool {
	if x, ok := a.(Bucket); ok {
		y := b.(Bucket)
		used, reserved := equal(x.Used, y.Used), equal(x.Reserved, y.Reserved)
		x.Used, x.Reserved, y.Used, y.Reserved = nil, nil, nil, nil
		return used && reserved && x == y
	}
	return a == b
}

func equal(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return cmp.Compare(*a, *b) == 0
}
