// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/tfweaver/tfweaver/internal/core/document"
)

// The JSON form of a graph is an object of the number of its nodes, so that a
// reader can make room for them, of its nodes, parents before children, and of its
// edges. A graph may be large: it is written and read node by node.

// MarshalJSON writes the same bytes for equal graphs.
func (g *Graph) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := g.WriteJSON(&b)
	return b.Bytes(), err
}

// WriteJSON writes what MarshalJSON returns.
func (g *Graph) WriteJSON(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	row := strconv.AppendInt([]byte(`{"count":`), int64(g.Len()), 10)
	row = append(row, `,"nodes":[`...)
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

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
