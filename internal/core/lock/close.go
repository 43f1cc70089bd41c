// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Close makes a plan of what an operation wants: wants on one node are joined
// with mode.Sup, and every node above a wanted one gets the intention for it.
// The joined want keeps the relation, rule and class of the most specific one.
// parent is the containment: ok is false at a root. Wants of mode NL vanish.
func Close(wants []Want, parent func(graph.NodeID) (up graph.NodeID, ok bool)) Plan {
	joined := make(map[graph.NodeID]join, 2*len(wants))
	for _, w := range wants {
		if w.Mode == mode.NL {
			continue
		}
		joined[w.Node] = joined[w.Node].with(w)
		intent := mode.Intention(w.Mode)
		for up, ok := parent(w.Node); ok; up, ok = parent(up) {
			joined[up] = joined[up].with(Want{Node: up, Mode: intent, Relation: Ancestor})
		}
	}
	plan := make(Plan, 0, len(joined))
	for _, j := range joined {
		w := j.best
		w.Mode = j.mode
		plan = append(plan, w)
	}
	slices.SortFunc(plan, func(a, b Want) int { return cmp.Compare(a.Node, b.Node) })
	return plan
}

// Union is the plan of all who hold one of the plans together.
func Union(plans ...Plan) Plan {
	var wants []Want
	for _, p := range plans {
		wants = append(wants, p...)
	}
	root := func(graph.NodeID) (graph.NodeID, bool) { return "", false }
	return Close(wants, root) // each plan has its intentions already
}

// join is what several wants on one node come to: the mode that covers all,
// and the one that says most. Their order makes no difference.
type join struct {
	mode mode.Mode
	best Want
}

func (j join) with(w Want) join {
	if j.mode == mode.NL || specificity(w, j.best) > 0 {
		j.best = w
	}
	j.mode = mode.Sup(j.mode, w.Mode)
	return j
}

// specificity is positive when a says more about the reason than b: a rule
// says more than an intention, the stronger mode more than the weaker, the
// operation's own object more than what surrounds it.
func specificity(a, b Want) int {
	return cmp.Or(
		compareBool(a.Relation != Ancestor, b.Relation != Ancestor),
		compareBool(a.Rule != "", b.Rule != ""),
		cmp.Compare(a.Mode, b.Mode),
		cmp.Compare(rank(a.Relation), rank(b.Relation)),
		-strings.Compare(a.Rule, b.Rule),
		-strings.Compare(a.Class, b.Class),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func rank(r Relation) int {
	return slices.Index([]Relation{Ancestor, Guarded, Capacity, Descendant, Rule, Reference, Named, Same}, r)
}

// Find is the want of a plan for a node.
func (p Plan) Find(id graph.NodeID) (Want, bool) {
	i, ok := slices.BinarySearchFunc(p, id, func(w Want, id graph.NodeID) int { return cmp.Compare(w.Node, id) })
	if !ok {
		return Want{}, false
	}
	return p[i], true
}

// Mode is the mode of a plan on a node, NL where it names none.
func (p Plan) Mode(id graph.NodeID) mode.Mode {
	w, _ := p.Find(id)
	return w.Mode
}
