// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/cow"
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
	owner cow.Owner
	nodes cow.Map[graph.NodeID, *entry]
	plans cow.Map[Owner, Plan]
	trace func(graph.NodeID)
}

// entry is the state of one node that is held.
type entry struct {
	mark    cow.Mark // of the table that may change it
	holders cow.Map[Owner, mode.Mode]
	counts  [mode.X + 1]int32
}

// NewTable is an empty table.
func NewTable() *Table { return &Table{} }

// Clone is an independent copy. It takes no time; what is different later is
// copied then. The table must not be used by others meanwhile.
func (t *Table) Clone() *Table {
	t.owner.Part()
	c := *t
	return &c
}

// Trace makes the table name each node that it looks at, every time; nil makes
// it silent. It is for measurements.
func (t *Table) Trace(to func(graph.NodeID)) { t.trace = to }

// look is every access to the state of a node.
func (t *Table) look(id graph.NodeID) *entry {
	if t.trace != nil {
		t.trace(id)
	}
	return t.nodes.Get(id)
}

// Free says whether the plan could be held next to all holds of others.
func (t *Table) Free(plan Plan) bool {
	for _, w := range plan {
		if e := t.look(w.Node); e != nil && !e.admits(w.Mode) {
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
		e := t.look(w.Node)
		if e == nil || e.admits(w.Mode) {
			continue
		}
		for holder, m := range e.holders.Sorted {
			if holder == owner || mode.Compatible(m, w.Mode) {
				continue
			}
			held, _ := t.plans.Get(holder).Find(w.Node)
			list = append(list, Conflict{Want: w, Holder: Holder{holder, m}, Held: held})
		}
	}
	return list
}

// Acquire takes the whole plan for an owner that holds nothing yet, or nothing.
func (t *Table) Acquire(owner Owner, plan Plan) error {
	if t.plans.Has(owner) {
		return fmt.Errorf("%s: %w", owner, ErrOwner)
	}
	if !t.Free(plan) {
		return fmt.Errorf("%s: %w", owner, ErrConflict)
	}
	t.plans.Set(&t.owner, owner, plan)
	for _, w := range plan {
		e := t.own(w.Node, t.look(w.Node))
		e.holders.Set(&t.owner, owner, w.Mode)
		e.counts[w.Mode]++
	}
	return nil
}

// own is e, the state of a node, or a copy that may be changed.
func (t *Table) own(id graph.NodeID, e *entry) *entry {
	if e != nil && e.mark == t.owner.Mark() {
		return e
	}
	fresh := &entry{}
	if e != nil {
		*fresh = *e
	}
	fresh.mark = t.owner.Mark()
	t.nodes.Set(&t.owner, id, fresh)
	return fresh
}

// Release gives up all that an owner holds and says whether it held anything.
func (t *Table) Release(owner Owner) bool {
	plan, ok := t.plans.Find(owner)
	if !ok {
		return false
	}
	t.plans.Delete(&t.owner, owner)
	for _, w := range plan {
		t.drop(owner, w)
	}
	return true
}

func (t *Table) drop(owner Owner, w Want) {
	e := t.look(w.Node)
	if e.holders.Len() == 1 {
		t.nodes.Delete(&t.owner, w.Node)
		return
	}
	e = t.own(w.Node, e)
	e.holders.Delete(&t.owner, owner)
	e.counts[w.Mode]--
}

// Holders are the holds on a node, by owner.
func (t *Table) Holders(id graph.NodeID) []Holder {
	e := t.look(id)
	if e == nil {
		return nil
	}
	list := make([]Holder, 0, e.holders.Len())
	for owner, m := range e.holders.Sorted {
		list = append(list, Holder{owner, m})
	}
	return list
}

// Strongest is the join of all modes held on a node, NL when it is free.
func (t *Table) Strongest(id graph.NodeID) mode.Mode {
	m := mode.NL
	if e := t.look(id); e != nil {
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
	return t.plans.Find(owner)
}

// Holds says whether an owner's plan names a node.
func (t *Table) Holds(owner Owner, id graph.NodeID) bool {
	_, ok := t.plans.Get(owner).Find(id)
	return ok
}

// Owners are all who hold something, sorted.
func (t *Table) Owners() []Owner { return t.plans.Keys() }

// Nodes are all nodes that are held, sorted.
func (t *Table) Nodes() []graph.NodeID { return t.nodes.Keys() }
