// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"cmp"
	"slices"
)

// Out are the references that a node makes, sorted by target and kind.
func (g *Graph) Out(id NodeID) []Edge { return slices.Clone(g.out[id]) }

// In are the references to a node, sorted by origin and kind. They are known
// also for a target that is not placed: a referrer may be seen first.
func (g *Graph) In(id NodeID) []Edge { return slices.Clone(g.in[id]) }

// HasEdge says whether a reference is recorded.
func (g *Graph) HasEdge(e Edge) bool {
	_, ok := slices.BinarySearchFunc(g.out[e.From], e, compareEdges)
	return ok
}

// AddEdge records a reference and says whether it is new.
func (g *Graph) AddEdge(e Edge) bool {
	i, ok := slices.BinarySearchFunc(g.out[e.From], e, compareEdges)
	if ok {
		return false
	}
	g.out[e.From] = slices.Insert(g.out[e.From], i, e)
	j, _ := slices.BinarySearchFunc(g.in[e.To], e, compareEdges)
	g.in[e.To] = slices.Insert(g.in[e.To], j, e)
	g.edges++
	return true
}

// RemoveEdge forgets a reference and says whether it was there.
func (g *Graph) RemoveEdge(e Edge) bool {
	i, ok := slices.BinarySearchFunc(g.out[e.From], e, compareEdges)
	if !ok {
		return false
	}
	setOrDrop(g.out, e.From, slices.Delete(g.out[e.From], i, i+1))
	if j, ok := slices.BinarySearchFunc(g.in[e.To], e, compareEdges); ok {
		setOrDrop(g.in, e.To, slices.Delete(g.in[e.To], j, j+1))
	}
	g.edges--
	return true
}

// SetEdges makes edges the only references that id makes, and says whether
// that changed anything. Edges from other nodes are left out.
func (g *Graph) SetEdges(id NodeID, edges []Edge) bool {
	changed := false
	for _, e := range g.Out(id) {
		if !slices.Contains(edges, e) {
			changed = g.RemoveEdge(e) || changed
		}
	}
	for _, e := range edges {
		if e.From == id {
			changed = g.AddEdge(e) || changed
		}
	}
	return changed
}

// Edges are all references, sorted by origin, target and kind.
func (g *Graph) Edges() []Edge {
	all := make([]Edge, 0, g.edges)
	for _, list := range g.out {
		all = append(all, list...)
	}
	slices.SortFunc(all, compareEdges)
	return all
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}
