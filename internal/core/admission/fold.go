// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

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
		s.intents[e.Intent.ID] = e.Intent
		return nil
	case NodesPlaced:
		return s.graph.Place(e.Nodes)
	case Declared:
		return s.foldDeclared(e)
	case TxSubmitted:
		return s.foldSubmitted(e)
	case Observed:
		return s.foldObserved(e)
	default:
		return s.foldTx(e)
	}
}

// foldTx takes over a decision about a known transaction.
func (s *State) foldTx(e Event) error {
	switch e := e.(type) {
	case TxQueued:
		return s.on(e.Tx, func(x *entry) error { x.Blockers = e.Blockers; return nil }, Queued)
	case TxAdmitted:
		return s.on(e.Tx, func(x *entry) error { return s.foldAdmitted(x, e) }, Queued)
	case TxRejected:
		return s.on(e.Tx, func(x *entry) error { s.retire(x, Rejected, e.At, e.Blockers); return nil }, Queued)
	case TxStaled:
		return s.on(e.Tx, func(x *entry) error { s.retire(x, Stale, e.At, e.Blockers); return nil }, Queued)
	case TxStarted:
		return s.on(e.Tx, func(x *entry) error { s.foldStarted(x, e); return nil }, Admitted)
	case TxUncertain:
		return s.on(e.Tx, func(x *entry) error { s.foldUncertain(x, e); return nil }, Actioning)
	case TxEnded:
		return s.on(e.Tx, func(x *entry) error { s.foldEnded(x, e); return nil }, Queued, Admitted, Actioning, Uncertain)
	default:
		return fmt.Errorf("event %T: %w", e, ErrNewer)
	}
}

// on changes a copy of a transaction that must be in one of the given states,
// and stores it.
func (s *State) on(id TxID, f func(*entry) error, in ...Status) error {
	old := s.txs[id]
	if old == nil {
		return fmt.Errorf("transaction %s: %w: %w", id, ErrNoTx, ErrReplay)
	}
	if !slices.Contains(in, old.Status) {
		return fmt.Errorf("transaction %s is %s: %w", id, old.Status, ErrReplay)
	}
	e := *old
	if err := f(&e); err != nil {
		return err
	}
	s.txs[id] = &e
	if e.Status.Final() {
		s.compact()
	}
	return nil
}

func (s *State) foldOpened(e SessionOpened) error {
	if s.sessions[e.Session.ID] != nil {
		return fmt.Errorf("session %s: %w: %w", e.Session.ID, ErrDuplicate, ErrReplay)
	}
	s.sessions[e.Session.ID] = &seat{Session: e.Session, first: e.Intent.ID}
	s.intents[e.Intent.ID] = e.Intent
	return nil
}

// seat changes a copy of a session and stores it.
func (s *State) seat(id SessionID, f func(*seat)) error {
	old := s.sessions[id]
	if old == nil {
		return fmt.Errorf("session %s: %w: %w", id, ErrNoSession, ErrReplay)
	}
	x := *old
	f(&x)
	s.sessions[id] = &x
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

func (s *State) foldDeclared(e Declared) error {
	if s.sessions[e.Session] == nil {
		return fmt.Errorf("session %s: %w: %w", e.Session, ErrNoSession, ErrReplay)
	}
	s.ahead = nil
	s.setDeclares(e.Session, e.Selves)
	return nil
}

// setDeclares replaces what a session has declared.
func (s *State) setDeclares(id SessionID, selves []graph.NodeID) {
	x := s.sessions[id]
	if x == nil {
		return
	}
	for _, n := range x.declares {
		s.redeclare(n, func(by []SessionID) []SessionID {
			return slices.DeleteFunc(by, func(b SessionID) bool { return b == id })
		})
	}
	_ = s.seat(id, func(x *seat) { x.declares = selves })
	for _, n := range selves {
		s.redeclare(n, func(by []SessionID) []SessionID {
			by = append(by, id)
			slices.Sort(by)
			return slices.Compact(by)
		})
	}
}

func (s *State) redeclare(n graph.NodeID, f func([]SessionID) []SessionID) {
	by := f(s.declared[n])
	first := ""
	if len(by) > 0 {
		first = string(by[0])
		s.declared[n] = by
	} else {
		delete(s.declared, n)
	}
	s.graph.Update(n, func(x *graph.Node) { x.DeclaredBy = first })
}

// undeclare lifts one declaration that has come true, or that cannot any more.
func (s *State) undeclare(id SessionID, n graph.NodeID) {
	x := s.sessions[id]
	if x == nil || !slices.Contains(x.declares, n) {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(x.declares), func(d graph.NodeID) bool { return d == n })
	s.setDeclares(id, rest)
}

func (s *State) foldSubmitted(e TxSubmitted) error {
	tx := e.Tx
	if s.sessions[tx.Session] == nil {
		return fmt.Errorf("session %s: %w: %w", tx.Session, ErrNoSession, ErrReplay)
	}
	if old := s.txs[tx.ID]; old != nil {
		if old.Status != Stale {
			return fmt.Errorf("transaction %s: %w: %w", tx.ID, ErrDuplicate, ErrReplay)
		}
		s.unretire(tx.ID)
	} else {
		s.refs[tx.Session]++
	}
	s.ahead = nil
	s.ticket = max(s.ticket, tx.Ticket)
	s.txs[tx.ID] = &entry{Tx: tx, digest: digest(&tx.Request)}
	if tx.Key != 0 {
		s.keys[key{tx.Session, tx.Key}] = tx.ID
	}
	i, _ := slices.BinarySearchFunc(s.queue, tx.ID, s.compareTickets)
	s.queue = slices.Insert(s.queue, i, tx.ID)
	return nil
}

func (s *State) foldAdmitted(x *entry, e TxAdmitted) error {
	if err := s.locks.Acquire(lock.Owner(x.ID), x.Locks); err != nil {
		return fmt.Errorf("%w: %w", err, ErrReplay)
	}
	if e.Token <= s.token {
		return fmt.Errorf("token %d after %d: %w", e.Token, s.token, ErrReplay)
	}
	s.unqueue(x.ID)
	s.token = e.Token
	x.Status, x.Token, x.AdmittedAt, x.Blockers = Admitted, e.Token, e.At, nil
	return nil
}

func (s *State) unqueue(id TxID) {
	s.ahead = nil
	if i := slices.Index(s.queue, id); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
	}
}

func (s *State) foldStarted(x *entry, e TxStarted) {
	x.Status, x.StartedAt, x.StartedIndex = Actioning, e.At, s.index
	if n := s.object(x.Self); n != nil {
		x.Before = n.Lifecycle
	}
	if x.Action == Create && !x.Before.Live() {
		// What the name stood for before is gone.
		s.graph.Update(x.Self, func(n *graph.Node) { n.BoundTo = "" })
	}
	if l, ok := during(x.Action, x.Before); ok {
		s.lifecycle(x.Self, l, x.Session)
	}
}

func (s *State) foldUncertain(x *entry, e TxUncertain) {
	x.Status, x.Cause = Uncertain, e.Cause
	if x.Action != Read {
		s.lifecycle(x.Self, graph.Uncertain, x.Session)
	}
}

func (s *State) foldEnded(x *entry, e TxEnded) {
	s.locks.Release(lock.Owner(x.ID))
	s.settle(&x.Tx, e)
	x.Exists, x.Cause, x.By, x.Reason = e.Exists, e.Cause, e.By, e.Reason
	s.retire(x, e.Status, e.At, nil)
}
