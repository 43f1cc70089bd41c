// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// Fold replays one record: the decisions are taken over as they were made.
// Folding the records of a state in their order onto New, or onto a snapshot,
// gives that state (invariant I14). After an error the state must be thrown
// away.
func (s *State) Fold(index uint64, now int64, events []Event) error {
	if index != s.index+1 {
		return fmt.Errorf("record %d after %d: %w", index, s.index, ErrReplay)
	}
	if now < s.now {
		return fmt.Errorf("record %d: %w", index, ErrTimeBack)
	}
	s.index, s.now = index, now
	for _, e := range events {
		if err := s.fold(e); err != nil {
			return fmt.Errorf("record %d: %w", index, err)
		}
	}
	return nil
}

// fold takes over one decision.
func (s *State) fold(e Event) error {
	switch e := e.(type) {
	case SessionOpened:
		return s.foldOpened(e)
	case LeaseRenewed:
		return s.foldRenewed(e)
	case SessionEnded:
		return s.foldSessionEnded(e)
	case IntentAdded:
		s.intents.Set(&s.owner, e.Intent.ID, e.Intent)
		return nil
	case NodesPlaced:
		return s.graph.Place(e.Nodes)
	case Declared:
		return s.foldDeclared(e)
	case TxSubmitted:
		return s.foldSubmitted(e)
	case Observed:
		return s.foldObserved(e)
	case Measured:
		return s.foldMeasured(e)
	case SenderDied:
		return s.seat(e.Session, func(x *seat) { x.DeadAt = e.At })
	case ClaimAdmitted:
		return s.foldClaimAdmitted(e)
	case ClaimEnded:
		return s.foldClaimEnded(e)
	default:
		return s.foldTx(e)
	}
}

// foldTx takes over a decision about a known transaction.
func (s *State) foldTx(e Event) error {
	switch e := e.(type) {
	case TxQueued:
		return s.on(e.Tx, func(x *entry) error { s.foldQueued(x, e); return nil }, Queued)
	case TxAdmitted:
		return s.on(e.Tx, func(x *entry) error { return s.foldAdmitted(x, e) }, Queued)
	case TxPassed:
		return s.on(e.Tx, func(x *entry) error { return s.foldPassed(x, e) }, Queued, Rejected, Stale)
	case TxRejected:
		return s.on(e.Tx, func(x *entry) error {
			s.proceed(&x.Tx, dead)
			s.retire(x, Rejected, e.At, e.Blockers)
			return nil
		}, Queued)
	case TxStaled:
		return s.on(e.Tx, func(x *entry) error { s.retire(x, Stale, e.At, e.Blockers); return nil }, Queued)
	case TxStarted:
		return s.on(e.Tx, func(x *entry) error { return s.foldStarted(x, e) }, Admitted)
	case TxUncertain:
		return s.on(e.Tx, func(x *entry) error { return s.foldUncertain(x, e) }, Actioning)
	case TxEnded:
		return s.on(e.Tx, func(x *entry) error { return s.foldEnded(x, e) }, Queued, Admitted, Actioning, Uncertain)
	default:
		return fmt.Errorf("event %T: %w", e, ErrNewer)
	}
}

// on changes a transaction that must be in one of the given states.
func (s *State) on(id TxID, f func(*entry) error, in ...Status) error {
	old := s.txs.Get(id)
	if old == nil {
		return fmt.Errorf("transaction %s: %w: %w", id, ErrNoTx, ErrReplay)
	}
	if !slices.Contains(in, old.Status) {
		return fmt.Errorf("transaction %s is %s: %w", id, old.Status, ErrReplay)
	}
	e := s.own(old)
	if err := f(e); err != nil {
		return err
	}
	if e.Status.Final() {
		s.compact()
	}
	return nil
}

func (s *State) foldOpened(e SessionOpened) error {
	if s.sessions.Get(e.Session.ID) != nil {
		return fmt.Errorf("session %s: %w: %w", e.Session.ID, ErrDuplicate, ErrReplay)
	}
	s.sessions.Set(&s.owner, e.Session.ID, &seat{Session: e.Session, first: e.Intent.ID})
	s.intents.Set(&s.owner, e.Intent.ID, e.Intent)
	return nil
}

// seat changes a copy of a session and stores it.
func (s *State) seat(id SessionID, f func(*seat)) error {
	old := s.sessions.Get(id)
	if old == nil {
		return fmt.Errorf("session %s: %w: %w", id, ErrNoSession, ErrReplay)
	}
	x := *old
	f(&x)
	s.sessions.Set(&s.owner, id, &x)
	return nil
}

func (s *State) foldRenewed(e LeaseRenewed) error {
	return s.seat(e.Session, func(x *seat) {
		x.Expires = e.Expires
		if e.Phase != "" {
			x.Phase = e.Phase
		}
	})
}

func (s *State) foldSessionEnded(e SessionEnded) error {
	s.ahead = nil
	s.setDeclares(e.Session, nil)
	err := s.seat(e.Session, func(x *seat) { x.EndedAt, x.Ended = e.At, e.How })
	if err == nil {
		s.forgetSlim(e.Session)
		s.forgetSession(e.Session)
	}
	return err
}

func (s *State) foldSubmitted(e TxSubmitted) error {
	tx := e.Tx
	if s.sessions.Get(tx.Session) == nil {
		return fmt.Errorf("session %s: %w: %w", tx.Session, ErrNoSession, ErrReplay)
	}
	if old := s.txs.Get(tx.ID); old != nil {
		if old.Status != Stale {
			return fmt.Errorf("transaction %s: %w: %w", tx.ID, ErrDuplicate, ErrReplay)
		}
		s.unretire(tx.ID)
	} else {
		s.ref(tx.Session)
	}
	x, err := newEntry(tx)
	if err != nil {
		return fmt.Errorf("transaction %s: %w: %w", tx.ID, err, ErrReplay)
	}
	x.digest, x.owner = digest(&tx.Request), s.owner.Mark()
	s.ahead = nil
	s.ticket = max(s.ticket, tx.Ticket)
	s.txs.Set(&s.owner, tx.ID, x)
	if tx.Plan != "" {
		s.ongoing.Set(&s.owner, tx.planned(), tx.ID)
	}
	if tx.Key != 0 {
		s.keys.Set(&s.owner, key{tx.Session, tx.Key}, tx.ID)
	}
	at, _ := slices.BinarySearchFunc(s.queue.Items(), tx.ID, s.compareTickets)
	s.queue.Insert(&s.owner, at, tx.ID)
	return nil
}

// foldQueued keeps who was in the way at first, for reports.
func (s *State) foldQueued(x *entry, e TxQueued) {
	x.Blockers = e.Blockers
	for _, b := range e.Blockers {
		if b.HolderSession != x.Session && len(x.Delayed) < maxDelayed {
			x.Delayed = append(x.Delayed[:len(x.Delayed):len(x.Delayed)], b)
		}
	}
}

// maxDelayed bounds the reasons of a wait that are kept when it is over.
const maxDelayed = 3

func (s *State) foldAdmitted(x *entry, e TxAdmitted) error {
	if err := s.locks.Acquire(lock.Owner(x.ID), x.Locks); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	if err := s.take(x); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	if err := s.admitted(x, e.Token, e.At); err != nil {
		return err
	}
	x.Blockers = nil
	if c := s.claimOf(x.Plan, x.Call); c != nil {
		x.Claim = c.ID
	}
	return nil
}

// admitted moves a transaction from the queue among those that may be sent.
func (s *State) admitted(x *entry, token uint64, at int64) error {
	if token <= s.token {
		return fmt.Errorf("token %d after %d: %w", token, s.token, ErrReplay)
	}
	s.unqueue(x.ID)
	s.token = token
	x.Status, x.Token, x.AdmittedAt = Admitted, token, at
	if x.Action == Reserve {
		s.plans.Set(&s.owner, x.ID, x.plan)
	}
	return nil
}

// proceed moves a planned call on.
func (s *State) proceed(tx *Tx, f phase) {
	if p, i := s.planOf(tx); p != nil && p.phases[i] != f {
		s.advance(tx.Plan, p.with(i, f))
	}
}

// advance stores a plan of which calls may have died. What was reserved for them
// is nobody's any more, and nobody may hope for their frees. One that may be sent
// at any moment keeps what it holds until it is taken back.
func (s *State) advance(id TxID, next *plan) {
	old := s.plans.Get(id)
	s.plans.Set(&s.owner, id, next)
	owner := escrow.Owner(id)
	for j, f := range next.phases {
		c := next.calls[j].ID
		if f != dead || old.phases[j] != pending || !s.escrow.Has(owner, c) {
			continue
		}
		if e := s.txs.Get(s.ongoing.Get(call{id, c})); e == nil || e.Status != Admitted {
			_ = s.escrow.Settle(owner, c, escrow.Refused, s.index)
		}
	}
}

func (s *State) unqueue(id TxID) {
	s.ahead = nil
	delete(s.drawn, id)
	if at := slices.Index(s.queue.Items(), id); at >= 0 {
		s.queue.Delete(&s.owner, at)
	}
}

func (s *State) foldStarted(x *entry, e TxStarted) error {
	x.Status, x.StartedAt, x.StartedIndex = Actioning, e.At, s.index
	if err := s.sent(&x.Tx); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	s.proceed(&x.Tx, running)
	x.Before = s.foreknown(x)
	if x.Action == Create && !x.Before.Live() {
		// What the name stood for before is gone.
		s.graph.Update(x.Self, func(n *graph.Node) { n.BoundTo = "" })
	}
	if l, ok := during(x.Action, x.Before); ok {
		s.lifecycle(x.Self, l, x.Session)
	}
	return nil
}

func (s *State) foldUncertain(x *entry, e TxUncertain) error {
	x.Status, x.Cause = Uncertain, e.Cause
	if err := s.spend(&x.Tx, escrow.Uncertain); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	if p, i := s.planOf(&x.Tx); p != nil {
		s.advance(x.Plan, p.without(i))
	}
	if x.Action != Read {
		s.lifecycle(x.Self, graph.Uncertain, x.Session)
	}
	return nil
}

func (s *State) foldEnded(x *entry, e TxEnded) error {
	s.locks.Release(lock.Owner(x.ID))
	if x.Action == Reserve {
		s.escrow.Release(escrow.Owner(x.ID), s.admittedCalls(x.ID)...)
		s.plans.Delete(&s.owner, x.ID)
	} else if err := s.spend(&x.Tx, s.capacityOutcome(x, e)); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	s.settle(&x.Tx, e)
	if e.Status == Operational {
		s.proceed(&x.Tx, done)
	} else {
		s.proceed(&x.Tx, dead)
	}
	x.Exists, x.Cause, x.By, x.Reason = e.Exists, e.Cause, e.By, e.Reason
	s.retire(x, e.Status, e.At, nil)
	return nil
}
