// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Owner is who holds locks. The table never interprets it.
type Owner string

// Holder is one owner's hold on one node.
type Holder struct {
	Owner Owner
	Mode  mode.Mode
}

// Conflict is one reason why a plan cannot be held now.
type Conflict struct {
	// Want is what the plan asks for on the node.
	Want Want
	// Holder is who holds the node in a mode that excludes it.
	Holder Holder
	// Held is the holder's own want on the node, with its rule.
	Held Want
}

// Errors of Acquire.
var (
	// ErrConflict: an incompatible hold exists; nothing was acquired.
	ErrConflict = errors.New("an incompatible lock is held")
	// ErrOwner: the owner holds a plan already. Plans never grow while they
	// are held: a conversion could deadlock.
	ErrOwner = errors.New("the owner holds locks already")
)

// Table is who holds which node in which mode.
//
// Guarantees: at all times the holds on a node are pairwise compatible; an
// owner holds one whole plan or nothing; every answer is in a fixed order.
// A check costs the length of the plan and not the number of holders, so that
// a realm under thousands of intentions stays cheap.
//
// Not guaranteed: any order among those who want the same node. There is no
// waiting here; see package admission.
type Table struct {
	nodes map[graph.NodeID]*entry
	plans map[Owner]Plan
}

// entry is the state of one node that is held.
type entry struct {
	holders []Holder // sorted by owner
	counts  [mode.X + 1]int
}

// NewTable is an empty table.
func NewTable() *Table {
	return &Table{nodes: map[graph.NodeID]*entry{}, plans: map[Owner]Plan{}}
}

// Clone is an independent copy; plans, which never change, are shared.
func (t *Table) Clone() *Table {
	c := &Table{nodes: make(map[graph.NodeID]*entry, len(t.nodes)), plans: maps.Clone(t.plans)}
	for id, e := range t.nodes {
		c.nodes[id] = &entry{holders: slices.Clone(e.holders), counts: e.counts}
	}
	return c
}

// Free says whether the plan could be held next to all holds of others.
func (t *Table) Free(plan Plan) bool {
	for _, w := range plan {
		if e := t.nodes[w.Node]; e != nil && !e.admits(w.Mode) {
			return false
		}
	}
	return true
}

func (e *entry) admits(m mode.Mode) bool {
	for held, n := range e.counts {
		if n > 0 && !mode.Compatible(mode.Mode(held), m) {
			return false
		}
	}
	return true
}

// Conflicts lists every hold of another owner that excludes a want of the
// plan, by node and then by owner.
func (t *Table) Conflicts(owner Owner, plan Plan) []Conflict {
	var list []Conflict
	for _, w := range plan {
		e := t.nodes[w.Node]
		if e == nil || e.admits(w.Mode) {
			continue
		}
		for _, h := range e.holders {
			if h.Owner == owner || mode.Compatible(h.Mode, w.Mode) {
				continue
			}
			held, _ := t.plans[h.Owner].Find(w.Node)
			list = append(list, Conflict{Want: w, Holder: h, Held: held})
		}
	}
	return list
}

// Acquire takes the whole plan for an owner that holds nothing yet, or nothing.
func (t *Table) Acquire(owner Owner, plan Plan) error {
	if _, ok := t.plans[owner]; ok {
		return fmt.Errorf("%s: %w", owner, ErrOwner)
	}
	if !t.Free(plan) {
		return fmt.Errorf("%s: %w", owner, ErrConflict)
	}
	t.plans[owner] = plan
	for _, w := range plan {
		t.hold(owner, w)
	}
	return nil
}

func (t *Table) hold(owner Owner, w Want) {
	e := t.nodes[w.Node]
	if e == nil {
		e = &entry{}
		t.nodes[w.Node] = e
	}
	i, _ := slices.BinarySearchFunc(e.holders, owner, compareOwner)
	e.holders = slices.Insert(e.holders, i, Holder{Owner: owner, Mode: w.Mode})
	e.counts[w.Mode]++
}

// Release gives up all that an owner holds and says whether it held anything.
func (t *Table) Release(owner Owner) bool {
	plan, ok := t.plans[owner]
	if !ok {
		return false
	}
	delete(t.plans, owner)
	for _, w := range plan {
		t.drop(owner, w)
	}
	return true
}

func (t *Table) drop(owner Owner, w Want) {
	e := t.nodes[w.Node]
	if i, ok := slices.BinarySearchFunc(e.holders, owner, compareOwner); ok {
		e.holders = slices.Delete(e.holders, i, i+1)
		e.counts[w.Mode]--
	}
	if len(e.holders) == 0 {
		delete(t.nodes, w.Node)
	}
}

func compareOwner(h Holder, o Owner) int { return cmp.Compare(h.Owner, o) }

// Holders are the holds on a node, by owner.
func (t *Table) Holders(id graph.NodeID) []Holder {
	if e := t.nodes[id]; e != nil {
		return slices.Clone(e.holders)
	}
	return nil
}

// Strongest is the join of all modes held on a node, NL when it is free.
func (t *Table) Strongest(id graph.NodeID) mode.Mode {
	m := mode.NL
	if e := t.nodes[id]; e != nil {
		for held, n := range e.counts {
			if n > 0 {
				m = mode.Sup(m, mode.Mode(held))
			}
		}
	}
	return m
}

// Held is the plan of an owner, and whether it holds one.
func (t *Table) Held(owner Owner) (Plan, bool) {
	p, ok := t.plans[owner]
	return p, ok
}

// Holds says whether an owner's plan names a node.
func (t *Table) Holds(owner Owner, id graph.NodeID) bool {
	_, ok := t.plans[owner].Find(id)
	return ok
}

// Owners are all who hold something, sorted.
func (t *Table) Owners() []Owner { return slices.Sorted(maps.Keys(t.plans)) }

// Nodes are all nodes that are held, sorted.
func (t *Table) Nodes() []graph.NodeID { return slices.Sorted(maps.Keys(t.nodes)) }
