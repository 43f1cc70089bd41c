// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruletest

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// Check says what is wrong with an operation's request that no coordinator
// would take, and with what was found beside it: a node that is named and not
// placed, one placed before its parent or twice, a lock without the intentions
// above it, an effect that is none or whose owner is not told. Empty means
// nothing.
func Check(l ruleengine.Lowered) string {
	if wrong := checkRequest(l.Request); wrong != "" {
		return wrong
	}
	if len(l.Buckets) != len(l.Request.Effects) {
		return fmt.Sprintf("%d effects on %d buckets", len(l.Request.Effects), len(l.Buckets))
	}
	for i, e := range l.Request.Effects {
		b := l.Buckets[i]
		node, _, ok := admission.NodeOfBucket(e.Bucket)
		if b.Key != e.Bucket || !ok || node != b.Owner.ID || b.Rule == "" || !slices.Contains(l.Request.Nodes, b.Owner) {
			return fmt.Sprintf("the effect on %s belongs to %+v", e.Bucket, b)
		}
	}
	for _, b := range l.Resized {
		if node, _, ok := admission.NodeOfBucket(b.Key); !ok || node != l.Request.Self || node != b.Owner.ID || b.Rule == "" {
			return fmt.Sprintf("the limit of %s belongs to %+v", b.Key, b)
		}
	}
	if l.Shadow.Empty() {
		return ""
	}
	s := l.Shadow
	alone := admission.Request{Self: s.Nodes[0].ID, Nodes: s.Nodes, Locks: s.Locks, Guards: s.Guards, Effects: s.Effects}
	if wrong := checkRequest(alone); wrong != "" {
		return "shadow: " + wrong
	}
	return ""
}

func checkRequest(r admission.Request) string {
	placed, wrong := place(r.Nodes)
	if wrong != "" {
		return wrong
	}
	for _, id := range named(r) {
		if _, ok := placed[id]; !ok {
			return fmt.Sprintf("%s is named and not placed", id)
		}
	}
	parent := func(id graph.NodeID) (graph.NodeID, bool) {
		up := placed[id].Parent
		return up, up != ""
	}
	if err := r.Locks.Validate(parent); err != nil {
		return err.Error()
	}
	if err := r.Effects.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

func place(nodes []graph.Decl) (map[graph.NodeID]graph.Decl, string) {
	placed := map[graph.NodeID]graph.Decl{}
	for _, d := range nodes {
		if _, twice := placed[d.ID]; twice {
			return nil, fmt.Sprintf("%s is placed twice", d.ID)
		}
		if _, ok := placed[d.Parent]; d.Parent != "" && !ok {
			return nil, fmt.Sprintf("%s is placed before its parent %s", d.ID, d.Parent)
		}
		if (d.Kind == graph.Realm) != (d.Parent == "") {
			return nil, fmt.Sprintf("%s: realms have no parent, all else has one", d.ID)
		}
		placed[d.ID] = d
	}
	return placed, ""
}

// named are the nodes that a request names, sorted.
func named(r admission.Request) []graph.NodeID {
	ids := []graph.NodeID{r.Self}
	for _, w := range r.Locks {
		ids = append(ids, w.Node)
	}
	for _, g := range r.Guards {
		ids = append(ids, g.Node)
	}
	for _, list := range [][]graph.Edge{r.Edges, r.AddEdges, r.DropEdges} {
		for _, e := range list {
			ids = append(ids, e.From, e.To)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
