// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"cmp"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Demand is what a set of plans asks for, held or not. It answers in the
// length of one plan whether that plan clashes with any of the set.
type Demand struct {
	plans []Plan // while they are few: comparing with each is quicker then
	nodes map[graph.NodeID]*counts
	block []counts // room for the next nodes
	room  int      // for so many nodes
}

// few is how many plans are compared one by one.
const few = 4

// counts is how many want a node in each mode.
type counts [mode.X + 1]int32

// Nodes is about how many nodes are asked for: exactly where they are many.
func (d *Demand) Nodes() int { return max(len(d.nodes), few*len(d.plans)) }

// NewDemand is the demand of nobody, with room for so many nodes.
func NewDemand(nodes int) *Demand { return &Demand{room: nodes} }

// Add puts a plan into the set.
func (d *Demand) Add(plan Plan) {
	if d.nodes == nil && len(d.plans) < few {
		d.plans = append(d.plans, plan)
		return
	}
	if d.nodes == nil {
		d.nodes = make(map[graph.NodeID]*counts, d.room)
		for _, p := range d.plans {
			d.count(p)
		}
		d.plans = nil
	}
	d.count(plan)
}

func (d *Demand) count(plan Plan) {
	for _, w := range plan {
		n := d.nodes[w.Node]
		if n == nil {
			n = d.fresh()
			d.nodes[w.Node] = n
		}
		n[w.Mode]++
	}
}

// fresh is the counts of one more node; they come in blocks.
func (d *Demand) fresh() *counts {
	if len(d.block) == 0 {
		d.block = make([]counts, max(8, len(d.nodes)/2))
	}
	n := &d.block[0]
	d.block = d.block[1:]
	return n
}

// Free says whether the plan is compatible with every plan of the set.
func (d *Demand) Free(plan Plan) bool {
	for _, p := range d.plans {
		if _, _, found := p.Clash(plan); found {
			return false
		}
	}
	if d.nodes == nil {
		return true
	}
	for _, w := range plan {
		n := d.nodes[w.Node]
		if n == nil {
			continue
		}
		for asked, count := range n {
			if count > 0 && !mode.Compatible(mode.Mode(asked), w.Mode) {
				return false
			}
		}
	}
	return true
}

// Clash is the first want of plan that excludes a want of other, with that
// want: what two plans conflict about.
func (p Plan) Clash(other Plan) (mine, theirs Want, found bool) {
	for i, j := 0, 0; i < len(p) && j < len(other); {
		switch cmp.Compare(p[i].Node, other[j].Node) {
		case -1:
			i++
		case 1:
			j++
		default:
			if !mode.Compatible(p[i].Mode, other[j].Mode) {
				return p[i], other[j], true
			}
			i++
			j++
		}
	}
	return Want{}, Want{}, false
}
