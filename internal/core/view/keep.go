// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// ErrLocals: what was kept of a session's local ids contradicts itself.
var ErrLocals = errors.New("malformed local ids")

// savedLocals is the JSON form of Locals.
type savedLocals struct {
	Nodes  []savedLocal  `json:"nodes"`
	Counts []savedNumber `json:"counts,omitempty"`
	Tokens []savedNumber `json:"tokens,omitempty"`
	Token  uint64        `json:"token,omitempty"`
}

type savedLocal struct {
	ID      LocalID      `json:"id"`
	Node    graph.NodeID `json:"node"`
	Version uint64       `json:"version"`
	Print   []byte       `json:"print"`
	Global  uint64       `json:"global,omitempty"`
}

type savedNumber struct {
	Key   string `json:"key"`
	Value uint64 `json:"value"`
}

// MarshalJSON writes the same bytes for equal memories.
func (l *Locals) MarshalJSON() ([]byte, error) {
	s := savedLocals{Nodes: []savedLocal{}, Counts: saveNumbers(l.counts), Tokens: saveNumbers(l.tokens), Token: l.token}
	for _, id := range l.order {
		x := l.nodes[id]
		s.Nodes = append(s.Nodes, savedLocal{ID: x.id, Node: id, Version: x.version, Print: []byte(x.print), Global: x.global})
	}
	return json.Marshal(s)
}

func saveNumbers[K ~string](m map[K]uint64) []savedNumber {
	var list []savedNumber
	for _, k := range slices.SortedFunc(maps.Keys(m), cmp.Compare[K]) {
		list = append(list, savedNumber{Key: string(k), Value: m[k]})
	}
	return list
}

// UnmarshalJSON replaces the memory by a stored one; after an error it is what
// it was.
func (l *Locals) UnmarshalJSON(data []byte) error {
	var s savedLocals
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("%w: %w", ErrLocals, err)
	}
	fresh := Locals{
		nodes: map[graph.NodeID]*local{}, ids: map[LocalID]graph.NodeID{}, counts: map[string]uint64{},
		tokens: map[admission.TxID]uint64{}, token: s.Token,
	}
	for _, x := range s.Nodes {
		if _, twice := fresh.ids[x.ID]; twice || x.ID == "" || x.Node == "" || fresh.nodes[x.Node] != nil {
			return fmt.Errorf("%w: %q for %s", ErrLocals, x.ID, x.Node)
		}
		fresh.nodes[x.Node] = &local{id: x.ID, version: x.Version, print: string(x.Print), global: x.Global}
		fresh.ids[x.ID] = x.Node
		fresh.order = append(fresh.order, x.Node)
	}
	for _, n := range s.Counts {
		fresh.counts[n.Key] = n.Value
	}
	for _, n := range s.Tokens {
		fresh.tokens[admission.TxID(n.Key)] = n.Value
	}
	*l = fresh
	return nil
}
