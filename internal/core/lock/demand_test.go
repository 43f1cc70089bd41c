// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestDemandIsThatOfAllPlans: however many plans there are, a plan is free exactly
// if it clashes with none of them. A demand counts what is asked for where the
// plans are many; none of them may be lost on the way, and no node may answer for
// another one.
func TestDemandIsThatOfAllPlans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same plans every time
		demand := NewDemand(r.IntN(40))
		var plans []Plan
		for range r.IntN(6 * few) {
			p := anyPlan(r)
			demand.Add(p)
			plans = append(plans, p)
			asked := anyPlan(r)
			want := !slices.ContainsFunc(plans, func(p Plan) bool { return clash(asked, p) })
			if got := demand.Free(asked); got != want {
				t.Fatalf("seed %d: %v beside %v: free %t", seed, asked, plans, got)
			}
			if n := demand.Nodes(); n < 0 || len(plans) > few && n != len(nodesOf(plans)) {
				t.Fatalf("seed %d: %d nodes of %v", seed, n, plans)
			}
		}
	}
}

// anyPlan wants few nodes of many, mostly in modes that leave room for others.
func anyPlan(r *rand.Rand) Plan {
	modes := []mode.Mode{mode.IS, mode.IS, mode.IX, mode.IX, mode.S, mode.SIX, mode.X}
	var wants []Want
	for range 1 + r.IntN(5) {
		wants = append(wants, Want{
			Node: graph.NodeID(fmt.Sprintf("n%02d", r.IntN(31))),
			Mode: modes[r.IntN(len(modes))],
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
