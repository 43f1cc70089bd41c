// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// stored is the JSON form of a graph: nodes with parents before children.
type stored struct {
	Nodes []*Node `json:"nodes"`
	Edges []Edge  `json:"edges"`
}

// MarshalJSON writes the same bytes for equal graphs.
func (g *Graph) MarshalJSON() ([]byte, error) {
	s := stored{Nodes: make([]*Node, 0, g.Len()), Edges: g.Edges()}
	for n := range g.Nodes() {
		s.Nodes = append(s.Nodes, n)
	}
	return json.Marshal(s)
}

// UnmarshalJSON replaces the graph by a stored one. Fields that this version
// does not know are an error.
func (g *Graph) UnmarshalJSON(data []byte) error {
	var s stored
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("read graph: %w", err)
	}
	fresh := New()
	for _, n := range s.Nodes {
		if n == nil {
			return fmt.Errorf("read graph: null node: %w", ErrShape)
		}
		if err := fresh.Place([]Decl{n.Decl}); err != nil {
			return fmt.Errorf("read graph: %w", err)
		}
		fresh.nodes.Set(&fresh.owner, n.ID, n)
	}
	for _, e := range s.Edges {
		fresh.AddEdge(e)
	}
	*g = *fresh
	return nil
}
