// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Errors of Check and Place, with the node named.
var (
	// ErrMisplaced: the node already stands under another parent. Containment
	// never changes: an object that moves in the cloud has another id.
	ErrMisplaced = errors.New("the node already stands under another parent")
	// ErrShape: the declaration contradicts itself or the ids it is made of.
	ErrShape = errors.New("malformed declaration")
	// ErrOrphan: the parent is not placed.
	ErrOrphan = errors.New("the parent is not placed")
)

// Graph is the global graph. The zero value is not ready; use [New]. All
// iteration is in a fixed order (ids, then kinds), so that everything computed
// from a graph is the same wherever it is computed.
//
// A Graph is not safe for concurrent writes. A node handed out is a copy.
type Graph struct {
	// A node behind a pointer is never changed, only replaced: clones share.
	nodes map[NodeID]*Node
	// children is sorted by id; the roots are the children of "".
	children map[NodeID][]NodeID
	out, in  map[NodeID][]Edge
	edges    int
}

// New is an empty graph.
func New() *Graph {
	return &Graph{
		nodes:    map[NodeID]*Node{},
		children: map[NodeID][]NodeID{},
		out:      map[NodeID][]Edge{},
		in:       map[NodeID][]Edge{},
	}
}

// Clone is an independent copy.
func (g *Graph) Clone() *Graph {
	return &Graph{
		nodes:    maps.Clone(g.nodes),
		children: cloneLists(g.children),
		out:      cloneLists(g.out),
		in:       cloneLists(g.in),
		edges:    g.edges,
	}
}

func cloneLists[T any](m map[NodeID][]T) map[NodeID][]T {
	c := make(map[NodeID][]T, len(m))
	for k, v := range m {
		c[k] = slices.Clone(v)
	}
	return c
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// EdgeCount is the number of references.
func (g *Graph) EdgeCount() int { return g.edges }

// Has says whether a node is placed.
func (g *Graph) Has(id NodeID) bool { return g.nodes[id] != nil }

// Get is a copy of a node; its History must not be written to.
func (g *Graph) Get(id NodeID) (Node, bool) {
	n := g.nodes[id]
	if n == nil {
		return Node{}, false
	}
	return *n, true
}

// Peek is the node itself, or nil: for reading without a copy.
func (g *Graph) Peek(id NodeID) *Node { return g.nodes[id] }

// Update replaces a node by what change makes of a copy of it. The id, the
// parent and the kind stay. A node that is not placed is left alone.
func (g *Graph) Update(id NodeID, change func(*Node)) {
	old := g.nodes[id]
	if old == nil {
		return
	}
	n := *old
	change(&n)
	n.ID, n.Parent, n.Kind = old.ID, old.Parent, old.Kind
	g.nodes[id] = &n
}

// Parent is the parent of a node; ok is false for roots and unknown nodes.
func (g *Graph) Parent(id NodeID) (parent NodeID, ok bool) {
	n := g.nodes[id]
	if n == nil || n.Parent == "" {
		return "", false
	}
	return n.Parent, true
}

// Ancestors are the nodes above id, nearest first.
func (g *Graph) Ancestors(id NodeID) []NodeID {
	var up []NodeID
	for p, ok := g.Parent(id); ok; p, ok = g.Parent(p) {
		up = append(up, p)
	}
	return up
}

// Children are the ids directly below id, sorted; the roots for "".
func (g *Graph) Children(id NodeID) []NodeID { return slices.Clone(g.children[id]) }

// Contains says whether id is inner, or stands above it.
func (g *Graph) Contains(id, inner NodeID) bool {
	for {
		if id == inner {
			return true
		}
		n := g.nodes[inner]
		if n == nil || n.Parent == "" {
			return false
		}
		inner = n.Parent
	}
}

// Subtree iterates over id and everything it contains, parents before their
// children, siblings sorted.
func (g *Graph) Subtree(id NodeID) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { g.walk(id, yield) }
}

func (g *Graph) walk(id NodeID, yield func(*Node) bool) bool {
	n := g.nodes[id]
	if n == nil {
		return true
	}
	if !yield(n) {
		return false
	}
	for _, c := range g.children[id] {
		if !g.walk(c, yield) {
			return false
		}
	}
	return true
}

// Nodes iterates over all nodes, parents before their children.
func (g *Graph) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, r := range g.children[""] {
			if !g.walk(r, yield) {
				return
			}
		}
	}
}

// Check says what Place would add: the declarations that are new, or that
// bring the type of a node placed without one. Nothing is changed.
func (g *Graph) Check(decls []Decl) ([]Decl, error) {
	var fresh []Decl
	var seen map[NodeID]Decl
	for _, d := range decls {
		old, known := g.known(d.ID, seen)
		if !known {
			if err := g.admissible(d, seen); err != nil {
				return nil, err
			}
		} else if err := sameplace(old, d); err != nil {
			return nil, err
		} else if d.Type == "" || d.Type == old.Type || old.Type != "" {
			continue
		}
		if seen == nil {
			seen = make(map[NodeID]Decl, len(decls))
		}
		seen[d.ID] = d
		fresh = append(fresh, d)
	}
	return fresh, nil
}

func (g *Graph) known(id NodeID, seen map[NodeID]Decl) (Decl, bool) {
	if d, ok := seen[id]; ok {
		return d, true
	}
	if n := g.nodes[id]; n != nil {
		return n.Decl, true
	}
	return Decl{}, false
}

func sameplace(old, d Decl) error {
	if old.Parent != d.Parent {
		return fmt.Errorf("%s under %q, not %q: %w", d.ID, old.Parent, d.Parent, ErrMisplaced)
	}
	if old.Kind != d.Kind {
		return fmt.Errorf("%s is a %s, not a %s: %w", d.ID, old.Kind, d.Kind, ErrShape)
	}
	return nil
}

// admissible checks a declaration of a node that is not placed yet.
func (g *Graph) admissible(d Decl, seen map[NodeID]Decl) error {
	if err := wellFormed(d); err != nil {
		return err
	}
	if d.Parent == "" {
		return nil
	}
	if _, ok := g.known(d.Parent, seen); !ok {
		return fmt.Errorf("%s under %q: %w", d.ID, d.Parent, ErrOrphan)
	}
	return nil
}

// Place adds nodes, parents before children, all or none. Placing a node again
// under the same parent changes nothing.
func (g *Graph) Place(decls []Decl) error {
	fresh, err := g.Check(decls)
	if err != nil {
		return err
	}
	for _, d := range fresh {
		if g.nodes[d.ID] != nil {
			g.Update(d.ID, func(n *Node) { n.Type = d.Type })
			continue
		}
		g.nodes[d.ID] = &Node{Decl: d}
		g.children[d.Parent] = insert(g.children[d.Parent], d.ID)
	}
	return nil
}

// Remove forgets a node without children and its references. It is for nodes
// that stand for nothing any more, never for objects that were deleted: those
// stay as Absent, with their history.
func (g *Graph) Remove(id NodeID) {
	n := g.nodes[id]
	if n == nil || len(g.children[id]) > 0 {
		return
	}
	g.SetEdges(id, nil)
	for _, e := range g.In(id) {
		g.RemoveEdge(e)
	}
	delete(g.nodes, id)
	rest := g.children[n.Parent]
	if i, ok := slices.BinarySearch(rest, id); ok {
		rest = slices.Delete(rest, i, i+1)
	}
	setOrDrop(g.children, n.Parent, rest)
}

func insert(list []NodeID, id NodeID) []NodeID {
	i, found := slices.BinarySearch(list, id)
	if found {
		return list
	}
	return slices.Insert(list, i, id)
}

func setOrDrop[T any](m map[NodeID][]T, id NodeID, list []T) {
	if len(list) == 0 {
		delete(m, id)
		return
	}
	m[id] = list
}
