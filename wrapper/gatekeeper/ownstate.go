// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// ownState names the objects that keep a change from being made, when all of
// them belong to the state that this run works on: then nobody else is to be
// blamed, even if another session made them. It is nil when anything else is
// in the way, or when that is not known.
func (g *Gatekeeper) ownState(ctx context.Context, report conflict.Report) []string {
	ids := referrers(report)
	if g.origin == "" || len(ids) == 0 {
		return nil
	}
	found, _, err := g.session.Lookup(ctx, ids...)
	if err != nil {
		g.log.WarnContext(ctx, "owners not known", "error", err)
		return nil
	}
	var names []string
	for _, f := range found {
		if !f.Known || f.Node.Owner != g.origin {
			return nil
		}
		name := f.Node.Address
		if name == "" {
			name = string(f.Node.ID)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// referrers are the objects that still use what a refused report is about;
// nil when there is another reason as well.
func referrers(report conflict.Report) []graph.NodeID {
	var ids []graph.NodeID
	if report.Decision != conflict.Reject {
		return nil
	}
	for _, c := range report.Conflicts {
		if c.Class != "dependency" || c.Fact == nil {
			return nil
		}
		_, id, named := strings.Cut(c.Fact.What, " ")
		if !named {
			return nil
		}
		ids = append(ids, graph.NodeID(id))
	}
	return ids
}

// ownStates is ownState of all reports that refuse; nil when any of them has
// other grounds.
func (g *Gatekeeper) ownStates(ctx context.Context, reports []conflict.Report) []string {
	var names []string
	for _, r := range reports {
		if r.Decision == conflict.Wait {
			continue
		}
		own := g.ownState(ctx, r)
		if len(own) == 0 {
			return nil
		}
		for _, name := range own {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
