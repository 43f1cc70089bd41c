// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/cow"
)

// Out are the references that a node makes, sorted by target and kind.
func (g *Graph) Out(id NodeID) []Edge { return g.listed(&g.out, id) }

// In are the references to a node, sorted by origin and kind. They are known
// also for a target that is not placed: a referrer may be seen first.
func (g *Graph) In(id NodeID) []Edge { return g.listed(&g.in, id) }

// edges are the references of each node, sorted.
type edges = cow.Map[NodeID, cow.List[Edge]]

func (g *Graph) listed(m *edges, id NodeID) []Edge {
	g.named(id)
	l := m.Get(id)
	return slices.Clone(l.Items())
}

// HasEdge says whether a reference is recorded.
func (g *Graph) HasEdge(e Edge) bool {
	l := g.out.Get(e.From)
	_, ok := slices.BinarySearchFunc(l.Items(), e, compareEdges)
	return ok
}

// AddEdge records a reference and says whether it is new.
func (g *Graph) AddEdge(e Edge) bool {
	if g.HasEdge(e) {
		return false
	}
	g.insert(&g.out, e.From, e)
	g.insert(&g.in, e.To, e)
	g.count++
	return true
}

func (g *Graph) insert(m *edges, id NodeID, e Edge) {
	l := m.Get(id)
	at, _ := slices.BinarySearchFunc(l.Items(), e, compareEdges)
	l.Insert(&g.owner, at, e)
	m.Set(&g.owner, id, l)
}

// RemoveEdge forgets a reference and says whether it was there.
func (g *Graph) RemoveEdge(e Edge) bool {
	if !g.HasEdge(e) {
		return false
	}
	g.remove(&g.out, e.From, e)
	g.remove(&g.in, e.To, e)
	g.count--
	return true
}

func (g *Graph) remove(m *edges, id NodeID, e Edge) {
	l := m.Get(id)
	if at, ok := slices.BinarySearchFunc(l.Items(), e, compareEdges); ok {
		l.Delete(&g.owner, at)
	}
	if l.Len() == 0 {
		m.Delete(&g.owner, id)
		return
	}
	m.Set(&g.owner, id, l)
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
	all := make([]Edge, 0, g.count)
	for _, l := range g.out.All {
		all = append(all, l.Items()...)
	}
	slices.SortFunc(all, compareEdges)
	return all
}

func compareEdges(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}
