// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// asked is what a waiter has to be given in one step.
type asked struct {
	// locks exclude other runs; those of the call alone exclude its own run too.
	locks  lock.Plan
	demand escrow.Demand
	guards []Guard
	// claim are the places of the calls of the claim that it begins.
	claim []int
	// wide is true when locks are those of a claim, towards other runs.
	wide bool
}

// asks is what a waiter outside of any active claim asks for.
func (s *State) asks(e *entry) asked {
	tx := &e.Tx
	a := asked{locks: tx.Locks, demand: e.demand, guards: tx.Guards}
	if tx.Action == Reserve {
		if tx.Whole {
			a.locks, a.guards, a.wide = e.union, e.guards, true
		}
		return a
	}
	p, i := s.planOf(tx)
	if p == nil {
		return a
	}
	if s.reserved(tx) {
		a.demand = nil // it was reserved with the plan
	}
	if len(p.group[i]) > 0 {
		s.begins(tx, p, i, &a)
	}
	return a
}

// drawn is what a waiter that begins a claim asks for, as long as its plan is
// where it was and no claim has begun or ended.
type drawn struct {
	plan  *plan
	epoch uint64
	asked asked
}

// begins adds the claim that begins with a call. That takes a while for a large
// plan, and a waiter is judged often.
func (s *State) begins(tx *Tx, p *plan, i int, a *asked) {
	if known, ok := s.drawn[tx.ID]; ok && known.plan == p && known.epoch == s.epoch {
		*a = known.asked
		return
	}
	if a.claim = p.claim(i, s.taken(tx.Plan, p)); len(a.claim) > 0 {
		a.wide = true
		a.locks = lock.Union(p.locks(a.claim), tx.Locks)
		a.guards = append(p.guards(a.claim), tx.Guards...)
	}
	if tx.Status == Queued && tx.ID != "" {
		if s.drawn == nil {
			s.drawn = map[TxID]drawn{}
		}
		s.drawn[tx.ID] = drawn{p, s.epoch, *a}
	}
}

// line is what a set of waiters asks for.
type line struct {
	locks   *lock.Demand
	buckets map[escrow.Key]bool
}

// newLine is an empty line that will ask for about so many nodes.
func newLine(nodes int) *line {
	return &line{locks: lock.NewDemand(nodes)}
}

func (l *line) add(a *asked) {
	l.locks.Add(a.locks)
	for _, d := range a.demand {
		if d.Plus > 0 {
			if l.buckets == nil {
				l.buckets = map[escrow.Key]bool{}
			}
			l.buckets[d.Bucket] = true
		}
	}
}

// free says whether nobody of the set wants what is asked for.
func (l *line) free(a *asked) bool {
	for _, d := range a.demand {
		if d.Plus > 0 && l.buckets[d.Bucket] {
			return false
		}
	}
	return l.locks.Free(a.locks)
}
