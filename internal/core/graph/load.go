// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/document"
)

// ReadJSON adds a stored graph to an empty one.
func (g *Graph) ReadJSON(r *document.Reader) error {
	l := loader{graph: g, words: words{}}
	err := r.Object(func(key string) error {
		switch key {
		case "count":
			return l.reserve(r)
		case "nodes":
			defer l.settle()
			return r.Array(func() error { return l.node(r) })
		case "edges":
			return r.Array(func() error { return g.readEdge(r) })
		default:
			return fmt.Errorf("json: unknown field %q", key)
		}
	})
	if err != nil {
		return fmt.Errorf("read graph: %w", err)
	}
	return nil
}

// loader places the nodes of a stored graph. Most of them are written right
// behind a sibling, so the family of the last one is at hand, and goes to the
// graph when the next family begins.
type loader struct {
	graph  *Graph
	words  words
	parent *Node // of the family; nil before the first
	family family
}

// mostReserved bounds for how many nodes room is made before they are read.
const mostReserved = 4 << 20

// reserve makes room for as many nodes as are said to follow.
func (l *loader) reserve(r *document.Reader) error {
	text, err := r.Value()
	if err != nil {
		return err
	}
	var count uint64
	if err := strict(text, &count); err != nil {
		return err
	}
	l.graph.nodes.Reserve(&l.graph.owner, int(min(count, mostReserved)))
	return nil
}

// node reads and places the next node.
func (l *loader) node(r *document.Reader) error {
	text, err := r.Value()
	if err != nil {
		return err
	}
	n := &Node{}
	if !parseNode(text, n, l.words) {
		if string(text) == "null" {
			return fmt.Errorf("null node: %w", ErrShape)
		}
		*n = Node{}
		if err := strict(text, n); err != nil {
			return err
		}
	}
	return l.place(n)
}

// place adds a node with what is known of it.
func (l *loader) place(n *Node) error {
	if old := l.graph.nodes.Get(n.ID); old != nil {
		if err := sameplace(old.Decl, n.Decl); err != nil {
			return err
		}
		l.graph.nodes.Set(&l.graph.owner, n.ID, n)
		return nil
	}
	if l.parent == nil || n.Parent != l.parent.ID {
		if err := l.join(n); err != nil || l.parent == nil {
			return err
		}
	}
	if err := wellFormed(n.Decl); err != nil {
		return err
	}
	n.Parent = l.parent.ID // one text for all children
	l.graph.nodes.Set(&l.graph.owner, n.ID, n)
	l.family.Set(&l.graph.owner, n.ID, struct{}{})
	if n.Kind == Pending {
		l.graph.pending.Set(&l.graph.owner, n.ID, struct{}{})
	}
	return nil
}

// join begins the family of a node. A root, which has none, is added at once.
func (l *loader) join(n *Node) error {
	l.settle()
	if err := l.graph.admissible(n.Decl, nil); err != nil {
		return err
	}
	if n.Parent == "" {
		l.graph.add(n)
		return nil
	}
	l.parent, l.family = l.graph.nodes.Get(n.Parent), l.graph.children.Get(n.Parent)
	return nil
}

// settle hands the family over to the graph.
func (l *loader) settle() {
	if l.parent != nil {
		l.graph.children.Set(&l.graph.owner, l.parent.ID, l.family)
	}
	l.parent, l.family = nil, family{}
}

func (g *Graph) readEdge(r *document.Reader) error {
	text, err := r.Value()
	if err != nil {
		return err
	}
	var e Edge
	if err := strict(text, &e); err != nil {
		return err
	}
	g.AddEdge(e)
	return nil
}
