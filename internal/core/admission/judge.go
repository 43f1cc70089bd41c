// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// verdict is what can be said of a waiting transaction now.
type verdict uint8

const (
	// grant: all locks are free, no earlier waiter is passed, guards hold.
	grant verdict = iota
	// wait: it stands in the queue.
	wait
	// dormant: it waits for an object that another session has declared, and
	// stands in nobody's way.
	dormant
	// refuse: waiting cannot help, or the session does not want to wait.
	refuse
	// stale: the graph moved under the lock plan.
	stale
)

// judge decides about one transaction, given what the waiters before it ask
// for. Guards are judged last, when the locks are free: what a running call is
// about to change is no ground for a refusal yet.
func (s *State) judge(tx *Tx, ahead *lock.Demand) (verdict, []Blocker) {
	return s.judgeFor(tx, ahead, nil)
}

// judgeFor is judge for a plan that will also make the objects of own.
func (s *State) judgeFor(tx *Tx, ahead *lock.Demand, own map[graph.NodeID]bool) (verdict, []Blocker) {
	if awaited := s.awaited(tx, own); len(awaited) > 0 {
		switch {
		case s.sessions[tx.Session].Policy == Reject:
			return refuse, s.declaredBlockers(tx, awaited)
		case s.circular(tx):
			return refuse, replan(s.declaredBlockers(tx, awaited))
		default:
			return dormant, nil
		}
	}
	if !s.locks.Free(tx.Locks) || !ahead.Free(tx.Locks) {
		if s.sessions[tx.Session].Policy == Reject && s.foreign(tx) {
			return refuse, s.blockers(tx, own)
		}
		return wait, nil
	}
	refusals, moved := s.check(tx, own)
	switch {
	case len(refusals) > 0:
		return refuse, limit(refusals)
	case len(moved) > 0:
		return stale, limit(moved)
	default:
		return grant, nil
	}
}

// foreign says whether another session holds or earlier wants what tx asks for.
func (s *State) foreign(tx *Tx) bool {
	for _, c := range s.locks.Conflicts(lock.Owner(tx.ID), tx.Locks) {
		if s.txs[TxID(c.Holder.Owner)].Session != tx.Session {
			return true
		}
	}
	for e := range s.before(tx) {
		if _, _, clash := tx.Locks.Clash(e.Locks); clash && e.Session != tx.Session && !s.dormant(&e.Tx) {
			return true
		}
	}
	return false
}

// before iterates over the waiters with an earlier ticket than tx, which need
// not be in the queue itself.
func (s *State) before(tx *Tx) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		for _, id := range s.queue {
			e := s.txs[id]
			if id == tx.ID || tx.Ticket != 0 && e.Ticket > tx.Ticket {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// demand is what the waiters that stand in the way ask for.
func (s *State) demand() *lock.Demand {
	if s.ahead == nil {
		s.ahead = lock.NewDemand()
		for _, id := range s.queue {
			if e := s.txs[id]; !s.dormant(&e.Tx) {
				s.ahead.Add(e.Locks)
			}
		}
	}
	return s.ahead
}

// drain judges every waiter in the order of the tickets. One pass is enough:
// a grant only adds holds, and a waiter that leaves the queue was looked at
// before those behind it.
func (d *decision) drain() {
	ahead := lock.NewDemand()
	for _, id := range slices.Clone(d.queue) {
		d.settleVerdict(id, ahead)
	}
	d.ahead = ahead
}

// settleVerdict judges one waiter, and counts it among those ahead of the next
// if it goes on waiting in line.
func (d *decision) settleVerdict(id TxID, ahead *lock.Demand) {
	e := d.txs[id]
	v, why := d.judge(&e.Tx, ahead)
	switch v {
	case grant:
		d.emit(TxAdmitted{Tx: id, Token: d.token + 1, At: d.at})
	case refuse:
		d.emit(TxRejected{Tx: id, At: d.at, Blockers: why})
	case stale:
		d.emit(TxStaled{Tx: id, At: d.at, Blockers: why})
	case wait:
		ahead.Add(e.Locks)
	case dormant:
	}
}

// Settled says whether every waiter has been judged as it would be judged now:
// no wake-up was lost (invariant I13). It is for checkers; the machine keeps it
// true after every command.
func (s *State) Settled() bool {
	ahead := lock.NewDemand()
	for _, id := range s.queue {
		e := s.txs[id]
		switch v, _ := s.judge(&e.Tx, ahead); v {
		case wait:
			ahead.Add(e.Locks)
		case dormant:
		default:
			return false
		}
	}
	return true
}
