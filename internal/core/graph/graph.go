// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"errors"
	"fmt"
	"iter"

	"github.com/tfweaver/tfweaver/internal/core/cow"
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
	owner cow.Owner
	// A node behind a pointer is never changed, only replaced: clones share.
	nodes cow.Map[NodeID, *Node]
	// The roots are the children of "".
	children cow.Map[NodeID, family]
	out, in  edges
	count    int    // of edges
	pending  family // the nodes of that kind
	trace    func(NodeID)
}

// family is the set of the children of one node.
type family = cow.Map[NodeID, struct{}]

// New is an empty graph.
func New() *Graph { return &Graph{} }

// Clone is an independent copy. It takes no time; what is different later is
// copied then. The graph must not be used by others meanwhile.
func (g *Graph) Clone() *Graph {
	g.owner.Part()
	c := *g
	return &c
}

// Trace makes the graph name each node that it looks at, every time; nil makes
// it silent. It is for measurements.
func (g *Graph) Trace(to func(NodeID)) { g.trace = to }

// look is every access to a node.
func (g *Graph) look(id NodeID) *Node {
	g.named(id)
	return g.nodes.Get(id)
}

func (g *Graph) named(id NodeID) {
	if g.trace != nil {
		g.trace(id)
	}
}

// Len is the number of nodes.
func (g *Graph) Len() int { return g.nodes.Len() }

// EdgeCount is the number of references.
func (g *Graph) EdgeCount() int { return g.count }

// Has says whether a node is placed.
func (g *Graph) Has(id NodeID) bool { return g.look(id) != nil }

// Get is a copy of a node; its History must not be written to.
func (g *Graph) Get(id NodeID) (Node, bool) {
	n := g.look(id)
	if n == nil {
		return Node{}, false
	}
	return *n, true
}

// Peek is the node itself, or nil: for reading without a copy.
func (g *Graph) Peek(id NodeID) *Node { return g.look(id) }

// Update replaces a node by what change makes of a copy of it. The id, the
// parent and the kind stay. A node that is not placed is left alone.
func (g *Graph) Update(id NodeID, change func(*Node)) {
	old := g.look(id)
	if old == nil {
		return
	}
	n := *old
	change(&n)
	n.ID, n.Parent, n.Kind = old.ID, old.Parent, old.Kind
	g.nodes.Set(&g.owner, id, &n)
}

// Parent is the parent of a node; ok is false for roots and unknown nodes.
func (g *Graph) Parent(id NodeID) (parent NodeID, ok bool) {
	n := g.look(id)
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
func (g *Graph) Children(id NodeID) []NodeID {
	f := g.children.Get(id)
	keys := f.Keys()
	for _, c := range keys {
		g.named(c)
	}
	return keys
}

// Pending are the ids of all nodes that stand for objects whose ids only the
// cloud will choose, sorted.
func (g *Graph) Pending() []NodeID { return g.pending.Keys() }

// Contains says whether id is inner, or stands above it.
func (g *Graph) Contains(id, inner NodeID) bool {
	for {
		if id == inner {
			return true
		}
		n := g.look(inner)
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
	n := g.look(id)
	if n == nil {
		return true
	}
	if !yield(n) {
		return false
	}
	family := g.children.Get(id)
	for c := range family.Sorted {
		if !g.walk(c, yield) {
			return false
		}
	}
	return true
}

// Nodes iterates over all nodes, parents before their children.
func (g *Graph) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		roots := g.children.Get("")
		for r := range roots.Sorted {
			if !g.walk(r, yield) {
				return
			}
		}
	}
}

// ByID is an iterator over all nodes in the order of their ids.
func (g *Graph) ByID(yield func(*Node) bool) {
	for id, n := range g.nodes.Sorted {
		g.named(id)
		if !yield(n) {
			return
		}
	}
}

// All is an iterator over all nodes in no particular order: for what comes to the
// same in any.
func (g *Graph) All(yield func(*Node) bool) {
	for id, n := range g.nodes.All {
		g.named(id)
		if !yield(n) {
			return
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
	if n := g.look(id); n != nil {
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
		if g.look(d.ID) != nil {
			g.Update(d.ID, func(n *Node) { n.Type = d.Type })
			continue
		}
		g.add(&Node{Decl: d})
	}
	return nil
}

// add places a node that is new.
func (g *Graph) add(n *Node) {
	g.nodes.Set(&g.owner, n.ID, n)
	siblings := g.children.Get(n.Parent)
	siblings.Set(&g.owner, n.ID, struct{}{})
	g.children.Set(&g.owner, n.Parent, siblings)
	if n.Kind == Pending {
		g.pending.Set(&g.owner, n.ID, struct{}{})
	}
}

// Remove forgets a node without children and its references. It is for nodes
// that stand for nothing any more, never for objects that were deleted: those
// stay as Absent, with their history.
func (g *Graph) Remove(id NodeID) {
	n := g.look(id)
	if n == nil || g.children.Has(id) {
		return
	}
	g.SetEdges(id, nil)
	for _, e := range g.In(id) {
		g.RemoveEdge(e)
	}
	g.nodes.Delete(&g.owner, id)
	g.pending.Delete(&g.owner, id)
	siblings := g.children.Get(n.Parent)
	siblings.Delete(&g.owner, id)
	if siblings.Len() == 0 {
		g.children.Delete(&g.owner, n.Parent)
		return
	}
	g.children.Set(&g.owner, n.Parent, siblings)
}
