// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// liveGraph lets rules ask the coordinator's graph.
type liveGraph struct{ session Session }

// Neighbours implements ruleengine.Graph.
func (l liveGraph) Neighbours(ctx context.Context, id graph.NodeID, kind graph.EdgeKind, out bool) ([]graph.Decl, uint64, bool, error) {
	found, _, err := l.session.Lookup(ctx, id)
	if err != nil {
		return nil, 0, false, err
	}
	if len(found) == 0 || !found[0].Known {
		return nil, 0, false, nil
	}
	edges := found[0].In
	if out {
		edges = found[0].Out
	}
	var ids []graph.NodeID
	for _, e := range edges {
		if e.Kind != kind {
			continue
		}
		if out {
			ids = append(ids, e.To)
		} else {
			ids = append(ids, e.From)
		}
	}
	decls, err := l.decls(ctx, ids)
	return decls, found[0].Node.Version, true, err
}

// decls asks where nodes stand in the forest.
func (l liveGraph) decls(ctx context.Context, ids []graph.NodeID) ([]graph.Decl, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, _, err := l.session.Lookup(ctx, ids...)
	if err != nil {
		return nil, err
	}
	decls := make([]graph.Decl, 0, len(found))
	for _, f := range found {
		if f.Known {
			decls = append(decls, f.Node.Decl)
		}
	}
	return decls, nil
}
