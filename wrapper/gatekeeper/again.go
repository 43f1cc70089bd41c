// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// freshness is how old knowledge may be on which a change is refused.
const freshness = 30 * time.Second

// lookAgain reads anew what a refusal is based on, and says whether it is worth
// asking once more: facts that were not seen lately, and what capacity there
// is. A plan that was made on another life of an object stays out of date
// whatever is read.
func (g *Gatekeeper) lookAgain(ctx context.Context, p *petition, report conflict.Report) bool {
	if report.Decision != conflict.Reject {
		return false
	}
	nodes := outdated(report)
	if slices.ContainsFunc(report.Conflicts, short) {
		nodes = append(nodes, owners(p.buckets)...)
	}
	return len(g.refreshAll(ctx, nodes)) < len(nodes)
}

// short says whether a reason is a lack of capacity.
func short(c conflict.Conflict) bool { return c.Capacity != nil }

// outdated are the objects whose condition decides a refusal, as far as it was
// not seen lately; each once.
func outdated(report conflict.Report) []graph.Decl {
	var list []graph.Decl
	seen := map[string]bool{}
	for _, c := range report.Conflicts {
		if c.Fact == nil || short(c) || c.Fact.Age < freshness.Seconds() {
			continue
		}
		r := c.Resource
		if c.Fact.Object != nil {
			r = *c.Fact.Object
		}
		if r.CloudID != "" && !seen[r.CloudID] {
			seen[r.CloudID] = true
			list = append(list, graph.Decl{ID: graph.NodeID(r.CloudID), Type: r.Type, Kind: graph.Resource})
		}
	}
	return list
}
