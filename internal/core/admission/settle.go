// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// settleBy settles an Uncertain transaction by what a session has read.
//
// A created object that is there, with no operation on it in progress, proves
// that the create has landed, and one that is sent again does nothing more. In
// all other cases the call may still be on its way: a plugin that a killed run
// has left behind may go on trying, and the cloud may have accepted a request
// that does not show yet. Such a read proves something only if it began when
// neither can be: the sender known dead, and the time passed in which a request
// lands; or the time passed for which a sender goes on at most.
func (d *decision) settleBy(c Settle) error {
	e, err := d.tx(c.Tx)
	if err != nil {
		return err
	}
	switch {
	case !d.alive(c.Session, d.at):
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	case c.Began > d.index, c.BeganAt > d.at:
		return fmt.Errorf("%w: a read that began at record %d, after %d", ErrMalformed, c.Began, d.index)
	case e.Status.Final() && e.Cause == settledByRead:
		return nil // somebody else was first
	case e.Status != Uncertain:
		return e.wrongStatus()
	}
	if err := d.proves(e, c); err != nil {
		return err
	}
	status := Failed
	if e.Action == Read || c.Exists == (e.Action != Delete) {
		status = Operational
	}
	d.finish(&e.Tx, TxEnded{
		Tx: c.Tx, Status: status, Exists: c.Exists, Settled: true, Digest: c.Digest,
		Cause: settledByRead, By: string(c.Session), Reason: "read back",
	})
	return nil
}

const settledByRead = "read"

// proves is why a read does not settle a call; nil if it does.
func (s *State) proves(tx *entry, c Settle) error {
	no := &UnsettledError{Tx: tx.ID}
	switch earliest := s.Readable(tx.ID); {
	case c.Began < tx.StartedIndex:
		no.Reason = "the read began before the call"
	case c.Exists && !c.Terminal:
		no.Reason = "an operation on the object is still in progress"
	case tx.Action == Create && c.Exists && !tx.Before.Live() && !s.disputed(tx):
		return nil
	case c.BeganAt >= earliest:
		return nil
	default:
		no.Earliest = earliest
		no.Reason = "the call may still reach the cloud"
		if s.sessions.Get(tx.Session).DeadAt == 0 {
			no.Reason = "it is not known whether the process that sent it is dead, and " + no.Reason
		}
	}
	return no
}

// disputed says whether another call went to the object of a call since that
// was started, which only happens where somebody has let one of them pass. What
// is seen of the object then may be the work of either.
func (s *State) disputed(x *entry) bool {
	if s.rival(x) != nil {
		return true
	}
	n := s.object(x.Self)
	return n != nil && slices.ContainsFunc(n.History, func(c graph.Change) bool {
		return c.Tx != string(x.ID) && c.Tx != "" && c.At > x.StartedAt
	})
}

// rival is the first of the other calls that are on their way to the object of
// one; nil if there is none.
func (s *State) rival(x *entry) *entry {
	var first *entry
	for _, e := range s.txs.All {
		if e.ID == x.ID || e.Self != x.Self || e.Action == Read || e.Status != Actioning && e.Status != Uncertain {
			continue
		}
		if first == nil || e.StartedIndex < first.StartedIndex {
			first = e
		}
	}
	return first
}

// Readable is when a read may begin that settles a call whatever it finds, in
// nanoseconds since the Unix epoch.
func (s *State) Readable(id TxID) int64 {
	e := s.txs.Get(id)
	if e == nil {
		return 0
	}
	lands, timeout := e.Lands, e.Timeout
	if lands == 0 {
		lands = DefaultLands
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	at := e.StartedAt + timeout
	if gone := s.sessions.Get(e.Session).DeadAt; gone != 0 {
		at = min(at, max(gone, e.StartedAt)+lands)
	}
	return at
}

// UnsettledError says why a read did not settle a call, and when one may.
type UnsettledError struct {
	Tx TxID
	// Reason is a sentence without its full stop.
	Reason string
	// Earliest is when a read may begin that settles the call, in nanoseconds
	// since the Unix epoch; 0 when that depends on what is read.
	Earliest int64
}

// Error names the transaction and the reason.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("transaction %s: %s: %s", e.Tx, ErrUnsettled, e.Reason)
}

// Unwrap is ErrUnsettled.
func (e *UnsettledError) Unwrap() error { return ErrUnsettled }
