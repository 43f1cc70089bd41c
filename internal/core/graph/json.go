// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/internal/core/document"
)

// The JSON form of a graph is an object of its nodes, parents before children,
// and its edges. A graph may be large: it is written and read node by node.

// MarshalJSON writes the same bytes for equal graphs.
func (g *Graph) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := g.WriteJSON(&b)
	return b.Bytes(), err
}

// WriteJSON writes what MarshalJSON returns.
func (g *Graph) WriteJSON(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	row := []byte(`{"nodes":[`)
	comma := false
	for n := range g.Nodes() {
		if comma {
			row = append(row, ',')
		}
		comma = true
		row = appendNode(row, n)
		if _, err := w.Write(row); err != nil {
			return fmt.Errorf("write graph: %w", err)
		}
		row = row[:0]
	}
	edges, err := json.Marshal(g.Edges())
	if err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	row = append(append(append(row, `],"edges":`...), edges...), '}')
	if _, err := w.Write(row); err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	return w.Flush()
}

// UnmarshalJSON replaces the graph by a stored one. Fields that this version
// does not know are an error.
func (g *Graph) UnmarshalJSON(data []byte) error {
	r := document.NewReader(bytes.NewReader(data))
	fresh := New()
	if err := fresh.ReadJSON(r); err != nil {
		return err
	}
	if err := r.End(); err != nil {
		return fmt.Errorf("read graph: %w", err)
	}
	*g = *fresh
	return nil
}

// ReadJSON adds a stored graph to an empty one.
func (g *Graph) ReadJSON(r *document.Reader) error {
	words := words{}
	err := r.Object(func(key string) error {
		switch key {
		case "nodes":
			return r.Array(func() error { return g.readNode(r, words) })
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

func (g *Graph) readNode(r *document.Reader, words words) error {
	text, err := r.Value()
	if err != nil {
		return err
	}
	n := &Node{}
	if !parseNode(text, n, words) {
		if string(text) == "null" {
			return fmt.Errorf("null node: %w", ErrShape)
		}
		*n = Node{}
		if err := strict(text, n); err != nil {
			return err
		}
	}
	if up := g.nodes.Get(n.Parent); up != nil {
		n.Parent = up.ID // one text for all children
	}
	return g.restore(n)
}

// restore places a node with what is known of it.
func (g *Graph) restore(n *Node) error {
	if old := g.nodes.Get(n.ID); old != nil {
		if err := sameplace(old.Decl, n.Decl); err != nil {
			return err
		}
		g.nodes.Set(&g.owner, n.ID, n)
		return nil
	}
	if err := g.admissible(n.Decl, nil); err != nil {
		return err
	}
	g.add(n)
	return nil
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

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
