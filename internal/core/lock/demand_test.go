// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"pgregory.net/rapid"
)

// TestDemandIsThatOfAllPlans: however many plans there are, a plan is free exactly
// if it clashes with none of them. A demand counts what is asked for where the
// plans are many; none of them may be lost on the way, and no node may answer for
// another one.
func TestDemandIsThatOfAllPlans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		demand := NewDemand(rapid.IntRange(0, 40).Draw(t, "room"))
		var plans []Plan
		for range rapid.IntRange(0, 6*few).Draw(t, "plans") {
			p := anyPlan(t)
			demand.Add(p)
			plans = append(plans, p)
			asked := anyPlan(t)
			want := !slices.ContainsFunc(plans, func(p Plan) bool { return clash(asked, p) })
			if got := demand.Free(asked); got != want {
				t.Fatalf("%v beside %v: free %t", asked, plans, got)
			}
			if n := demand.Nodes(); n < 0 || len(plans) > few && n != len(nodesOf(plans)) {
				t.Fatalf("%d nodes of %v", n, plans)
			}
		}
	})
}

// anyPlan wants few nodes of many, mostly in modes that leave room for others.
func anyPlan(t *rapid.T) Plan {
	var wants []Want
	for range rapid.IntRange(1, 5).Draw(t, "wants") {
		wants = append(wants, Want{
			Node: graph.NodeID(fmt.Sprintf("n%02d", rapid.IntRange(0, 30).Draw(t, "node"))),
			Mode: rapid.SampledFrom([]mode.Mode{mode.IS, mode.IX, mode.S, mode.SIX, mode.X}).Draw(t, "mode"),
		})
	}
	return Union(wants) // a list of wants, joined
}

// clash compares every want with every other one.
func clash(a, b Plan) bool {
	return slices.ContainsFunc(a, func(w Want) bool {
		return slices.ContainsFunc(b, func(x Want) bool { return w.Node == x.Node && !mode.Compatible(w.Mode, x.Mode) })
	})
}

func nodesOf(plans []Plan) map[graph.NodeID]bool {
	all := map[graph.NodeID]bool{}
	for _, p := range plans {
		for _, w := range p {
			all[w.Node] = true
		}
	}
	return all
}
