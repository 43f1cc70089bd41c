// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

// heaviest is the greatest total weight of a down-closed set: one that with an
// item also has all items before it, as far as they are not absent. The empty
// set weighs 0, and so does what is absent.
//
// This is the maximum-weight closure problem, solved exactly for any size by a
// minimum cut (Picard, Maximal Closure of a Graph and Applications to
// Combinatorial Problems, 1976): the source feeds every positive item with its
// weight, every negative item drains its weight into the sink, and what an
// item depends on is tied to it by an arc that no cut can afford. The closure
// weighs what the positive items weigh together less the cut. Items that depend
// on no negative one are left out of that: they are taken anyway, or do not
// matter.
func heaviest(weight []int64, before [][]int, absent []bool) int64 {
	var gain, loss int64
	for _, w := range weight {
		gain += max(w, 0)
		loss += max(-w, 0)
	}
	if gain == 0 || loss == 0 {
		return gain // nobody, or everybody
	}
	costly := dependents(weight, before, absent)
	arcs, pays := 0, false
	for i, w := range weight {
		if costly[i] {
			arcs, pays = arcs+1+len(before[i]), pays || w > 0
		}
	}
	if !pays {
		return gain // whatever weighs is to be had without what costs
	}
	n := newNetwork(len(weight)+2, arcs)
	source, sink := len(weight), len(weight)+1
	for i, w := range weight {
		switch {
		case !costly[i]:
			continue
		case w > 0:
			n.arc(source, i, w)
		case w < 0:
			n.arc(i, sink, -w)
		}
		for _, p := range before[i] {
			if costly[p] {
				n.arc(i, p, gain+1)
			}
		}
	}
	return gain - n.maxFlow(source, sink)
}

// dependents are the negative items, and those that come after one.
func dependents(weight []int64, before [][]int, absent []bool) []bool {
	costly, seen := make([]bool, len(weight)), make([]bool, len(weight))
	var visit func(i int) bool
	visit = func(i int) bool {
		if seen[i] || absent != nil && absent[i] {
			return costly[i]
		}
		seen[i] = true
		found := weight[i] < 0
		for _, p := range before[i] {
			found = visit(p) || found
		}
		costly[i] = found
		return found
	}
	for i := range weight {
		visit(i)
	}
	return costly
}

// network is a flow network; arc 2i and arc 2i+1 are each other's reverse.
type network struct {
	out   []int // the last arc by its tail, -1 for none
	more  []int // the arc of the same tail before each one
	head  []int
	room  []int64 // residual capacity
	level []int
	next  []int // first arc of each node that may still lead on
}

// newNetwork has room for so many arcs.
func newNetwork(nodes, arcs int) *network {
	n := &network{
		out: make([]int, nodes), level: make([]int, nodes), next: make([]int, nodes),
		more: make([]int, 0, 2*arcs), head: make([]int, 0, 2*arcs), room: make([]int64, 0, 2*arcs),
	}
	for i := range n.out {
		n.out[i] = -1
	}
	return n
}

func (n *network) arc(from, to int, room int64) {
	at := len(n.head)
	n.more = append(n.more, n.out[from], n.out[to])
	n.out[from], n.out[to] = at, at+1
	n.head = append(n.head, to, from)
	n.room = append(n.room, room, 0)
}

// maxFlow pushes blocking flows through the level network until the sink
// cannot be reached (Dinic, 1970).
func (n *network) maxFlow(source, sink int) int64 {
	var total int64
	for n.layer(source, sink) {
		copy(n.next, n.out)
		for f := n.push(source, sink, 1<<62); f > 0; f = n.push(source, sink, 1<<62) {
			total += f
		}
	}
	return total
}

// layer finds the distance of every node from the source, and says whether the
// sink has one.
func (n *network) layer(source, sink int) bool {
	for i := range n.level {
		n.level[i] = -1
	}
	n.level[source] = 0
	queue := append(make([]int, 0, len(n.level)), source)
	for i := 0; i < len(queue); i++ {
		for a := n.out[queue[i]]; a >= 0; a = n.more[a] {
			if to := n.head[a]; n.room[a] > 0 && n.level[to] < 0 {
				n.level[to] = n.level[queue[i]] + 1
				queue = append(queue, to)
			}
		}
	}
	return n.level[sink] >= 0
}

// push sends one path's worth of flow towards the sink.
func (n *network) push(at, sink int, flow int64) int64 {
	if at == sink {
		return flow
	}
	for ; n.next[at] >= 0; n.next[at] = n.more[n.next[at]] {
		a := n.next[at]
		if n.room[a] == 0 || n.level[n.head[a]] != n.level[at]+1 {
			continue
		}
		if f := n.push(n.head[a], sink, min(flow, n.room[a])); f > 0 {
			n.room[a] -= f
			n.room[a^1] += f
			return f
		}
	}
	return 0
}
