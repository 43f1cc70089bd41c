// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// verdict is what can be said of a waiting transaction now.
type verdict uint8

const (
	// grant: all locks and all capacity are free, no earlier waiter is passed,
	// guards hold.
	grant verdict = iota
	// wait: it stands in the queue.
	wait
	// aside: it waits for a running call of its own run, inside a claim that
	// keeps others away; it stands in nobody's way.
	aside
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
// about to change is no ground for a refusal yet. What the transaction asks for
// is set where it is granted that, or waits.
func (s *State) judge(e *entry, ahead *line) (verdict, asked, []Blocker) {
	return s.judgeFor(e, ahead, nil)
}

// judgeFor is judge for a plan that will also make the objects of own.
func (s *State) judgeFor(e *entry, ahead *line, own makers) (v verdict, a asked, why []Blocker) {
	if e.plain {
		a.locks, a.guards = e.Locks, e.Guards
		v, why = s.outside(e, &a, ahead, own)
		return v, a, why
	}
	own = s.ownOf(e, own)
	if p, i := s.planOf(&e.Tx); p != nil {
		if p.lost(i) {
			return refuse, a, s.deadBlockers(&e.Tx, p, i)
		}
		if s.claimOf(e.Plan, e.Call) != nil {
			v, why = s.inside(e, own)
			return v, a, why
		}
	}
	a = s.asks(e)
	v, why = s.outside(e, &a, ahead, own)
	return v, a, why
}

// outside judges what is in no active claim.
func (s *State) outside(e *entry, a *asked, ahead *line, own makers) (verdict, []Blocker) {
	tx := &e.Tx
	if s.escrow.Stuck(a.demand) {
		return refuse, s.shortBlockers(e, a.demand)
	}
	if awaited := s.awaited(tx.Session, a.guards, own); len(awaited) > 0 {
		switch {
		case s.sessions.Get(tx.Session).Policy == Reject:
			return refuse, s.declaredBlockers(tx, awaited)
		case s.circular(e):
			return refuse, replan(s.declaredBlockers(tx, awaited))
		default:
			return dormant, nil
		}
	}
	if !s.available(e, a) || s.behind(e, a, ahead) {
		if s.sessions.Get(tx.Session).Policy == Reject && s.foreign(e) {
			return refuse, s.blockers(e, own)
		}
		return wait, nil
	}
	if s.reserved(tx) {
		if short := s.overdrawn(e); len(short) > 0 {
			return refuse, short
		}
	}
	return s.guarded(tx, a.guards, own)
}

// guarded judges guards under the locks.
func (s *State) guarded(tx *Tx, guards []Guard, own makers) (verdict, []Blocker) {
	refusals, moved := s.check(tx, guards, own)
	switch {
	case len(refusals) > 0:
		return refuse, limit(refusals)
	case len(moved) > 0:
		return stale, limit(moved)
	default:
		return grant, nil
	}
}

// available says whether nobody holds what a waiter asks for. What its own run
// holds stops its call, not its claim.
func (s *State) available(e *entry, a *asked) bool {
	if !s.locks.Free(e.Locks) || !s.escrow.Admits(a.demand) {
		return false
	}
	if a.wide && len(s.foreignCalls(e.Session, a.locks)) > 0 {
		return false
	}
	return !s.excluded(e.Session, a.locks)
}

// behind says whether an earlier waiter wants what a waiter asks for. The count
// answers that for all but the calls of plans with claims: towards its own run
// a claim stands in nobody's way.
func (s *State) behind(e *entry, a *asked, ahead *line) bool {
	if ahead.free(a) {
		return false
	}
	if e.Plan == "" && !a.wide {
		return true
	}
	for w := range s.before(&e.Tx) {
		if s.stands(w) && s.yields(e, a, w) {
			return true
		}
	}
	return false
}

// rivalry is what a waiter and an earlier one both want and cannot have
// together: a node, or else what is in a bucket.
type rivalry struct {
	mine, theirs lock.Want
	bucket       escrow.Key
}

// rivals says why a waiter may not pass an earlier one. Of its own run it passes
// those that join its claim, and otherwise minds calls and not claims.
func (s *State) rivals(e *entry, a *asked, w *entry) (r rivalry, found bool) {
	theirs, mine := s.asks(w), a.locks
	if w.Session == e.Session {
		if _, i := s.planOf(&w.Tx); w.Plan == e.Plan && slices.Contains(a.claim, i) {
			return r, false
		}
		mine, theirs.locks = e.Locks, w.Locks
	}
	if r.mine, r.theirs, found = mine.Clash(theirs.locks); found {
		return r, true
	}
	r.bucket, found = a.demand.Contends(theirs.demand)
	return r, found
}

// yields says whether a waiter may not pass an earlier one.
func (s *State) yields(e *entry, a *asked, w *entry) bool {
	_, found := s.rivals(e, a, w)
	return found
}

// foreign says whether another session holds or earlier wants what a waiter
// asks for.
func (s *State) foreign(e *entry) bool {
	a := s.asks(e)
	if len(s.foreignCalls(e.Session, a.locks)) > 0 || s.excluded(e.Session, a.locks) {
		return true
	}
	if s.contested(e, a.demand) {
		return true
	}
	for w := range s.before(&e.Tx) {
		if w.Session != e.Session && s.stands(w) && s.yields(e, &a, w) {
			return true
		}
	}
	return false
}

// before iterates over the waiters with an earlier place than tx, which need
// not be in the queue itself.
func (s *State) before(tx *Tx) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		for _, id := range s.queue.Items() {
			e := s.txs.Get(id)
			if id == tx.ID || tx.Ticket != 0 && comparePlaces(&e.Tx, tx) > 0 {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// stands says whether a waiter stands in the way of those behind it.
func (s *State) stands(e *entry) bool {
	if p, i := s.planOf(&e.Tx); p != nil && (p.lost(i) || s.claimOf(e.Plan, e.Call) != nil) {
		return false
	}
	return !s.dormant(e)
}

// demand is what the waiters that stand in the way ask for.
func (s *State) demand() *line {
	if s.ahead == nil {
		s.ahead = newLine(s.width)
		for _, id := range s.queue.Items() {
			if e := s.txs.Get(id); s.stands(e) {
				a := s.asks(e)
				s.ahead.add(&a)
			}
		}
	}
	return s.ahead
}

// drain judges every waiter in the order of their places. One pass is enough
// where a grant only adds holds, and a waiter that leaves the queue was looked
// at before those behind it; a claim that begins or an intent that has become
// impossible concerns earlier waiters too.
func (d *decision) drain() {
	for {
		d.again = false
		ahead := newLine(d.width)
		for _, id := range slices.Clone(d.queue.Items()) {
			d.settleVerdict(id, ahead)
		}
		d.ahead, d.width = ahead, ahead.locks.Nodes()
		if !d.again {
			return
		}
	}
}

// settleVerdict judges one waiter, and counts it among those ahead of the next
// if it goes on waiting in line.
func (d *decision) settleVerdict(id TxID, ahead *line) {
	e := d.txs.Get(id)
	v, a, why := d.judge(e, ahead)
	if !e.plain && e.Advisory && v != grant {
		if v != refuse && v != stale {
			why = d.blockers(e, nil)
		}
		d.pass(e, Pass{Tx: id, Mode: "observe"}, why)
		return
	}
	switch v {
	case grant:
		d.grant(e, a.claim)
	case refuse:
		d.emit(TxRejected{Tx: id, At: d.at, Blockers: why})
		d.after(e)
	case stale:
		d.emit(TxStaled{Tx: id, At: d.at, Blockers: why})
	case wait:
		ahead.add(&a)
	case aside, dormant:
	}
}

// grant admits a waiter, with the claim that it begins.
func (d *decision) grant(e *entry, claim []int) {
	if len(claim) > 0 {
		d.claim(e.ID, e.Plan, claim)
	}
	d.emit(TxAdmitted{Tx: e.ID, Token: d.token + 1, At: d.at})
	if e.Action == Reserve && e.Whole {
		d.claim(e.ID, e.ID, d.plans.Get(e.ID).all())
	}
}

// after looks at the plan of a call that has ended: claims may be over, and
// other calls impossible.
func (d *decision) after(e *entry) {
	if e.Plan != "" {
		d.closeClaims(e.Plan)
		d.again = true
	}
}

// Settled says whether every waiter has been judged as it would be judged now:
// no wake-up was lost (invariant I13). It is for checkers; the machine keeps it
// true after every command.
func (s *State) Settled() bool {
	ahead := newLine(s.width)
	for _, id := range s.queue.Items() {
		switch v, a, _ := s.judge(s.txs.Get(id), ahead); v {
		case wait:
			ahead.add(&a)
		case aside, dormant:
		default:
			return false
		}
	}
	return true
}
