// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Op is a provider call of a configuration: what it asks of the coordinator
// and, separately, what it does to the cloud.
type Op struct {
	Name    string
	Session int
	Action  admission.Action
	Self    graph.NodeID
	wants   []lock.Want
	guards  []admission.Guard // without their values

	// The ground truth, written down independently of the locks.
	writes, reads []touch
	// Make and Remove say what becomes of Self.
	Make, Remove bool
	// Refers is the object that Self refers to afterwards.
	Refers graph.NodeID
	// Requires must exist while the operation runs.
	Requires []graph.NodeID
	// Effects are what it does to the two buckets.
	Effects [buckets]int8

	// After are the operations of the same session that must have succeeded
	// first; Group holds those together that are one intent, 0 for none.
	After []int
	Group int
	// Extra is a call that the plan of its run does not know of.
	Extra bool
}

// versioned and lived are the objects whose version, or life, its plan is made
// on; empty for none.
func (o *Op) versioned() graph.NodeID { return o.guarded(admission.Version) }
func (o *Op) lived() graph.NodeID     { return o.guarded(admission.SameLife) }

func (o *Op) guarded(k admission.GuardKind) graph.NodeID {
	for _, g := range o.guards {
		if g.Kind == k {
			return g.Node
		}
	}
	return ""
}

// disturbs says whether two operations must not run at the same time.
func (o *Op) disturbs(p *Op) bool {
	return meet(o.writes, p.writes) || meet(o.writes, p.reads) || meet(o.reads, p.writes)
}

// plan is what the operation has to hold, with the intentions above.
func (o *Op) plan() lock.Plan {
	return lock.Close(o.wants, func(id graph.NodeID) (graph.NodeID, bool) {
		d := place(id)
		up := d[len(d)-1].Parent
		return up, up != ""
	})
}

// named are the nodes that the request places.
func (o *Op) named() []graph.NodeID {
	list := []graph.NodeID{o.Self}
	for _, w := range o.wants {
		list = append(list, w.Node)
	}
	for _, g := range o.guards {
		list = append(list, g.Node)
	}
	if o.Refers != "" {
		list = append(list, o.Self, o.Refers)
	}
	return list
}

func (o *Op) x(nodes ...graph.NodeID) { o.want(mode.X, lock.Same, nodes...) }
func (o *Op) s(nodes ...graph.NodeID) { o.want(mode.S, lock.Reference, nodes...) }

func (o *Op) want(m mode.Mode, r lock.Relation, nodes ...graph.NodeID) {
	for _, n := range nodes {
		o.wants = append(o.wants, lock.Want{Node: n, Mode: m, Relation: r, Rule: "sim/" + string(o.Action)})
	}
}

func (o *Op) guard(k admission.GuardKind, nodes ...graph.NodeID) {
	for _, n := range nodes {
		o.guards = append(o.guards, admission.Guard{Kind: k, Node: n})
	}
}

func slot(n graph.NodeID) graph.NodeID   { return graph.FacetOf(n, "slot") }
func life(n graph.NodeID) graph.NodeID   { return graph.FacetOf(n, graph.Life) }
func config(n graph.NodeID) graph.NodeID { return graph.FacetOf(n, graph.Config) }

// order makes operations of one session follow each other as a plan would have
// it: parents before children, references before referrers, and the reverse for
// removals.
func order(ops []Op) {
	for j := range ops {
		for i := range ops {
			if i != j && ops[i].Session == ops[j].Session && precedes(&ops[i], &ops[j]) {
				ops[j].After = append(ops[j].After, i)
			}
		}
	}
}

func precedes(a, b *Op) bool {
	in := func(inner, outer graph.NodeID) bool { return inner != outer && inside(inner, outer) }
	switch {
	case a.Make && !b.Remove:
		return in(b.Self, a.Self) || slices.Contains(b.Requires, a.Self)
	case a.Remove && b.Make:
		return a.Self == b.Self
	case a.Remove && b.Remove:
		return in(a.Self, b.Self) || a.Self == nic && b.Self == sub1
	default:
		return false
	}
}
