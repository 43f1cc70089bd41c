// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Submit asks for admission in the name of a session. The decision may be to
// wait: then the follower tells what becomes of it, and must be closed.
//
// The same idempotency key gets the same transaction. A Stale transaction is
// submitted again under its id, and so keeps its ticket.
func (c *Coordinator) Submit(ctx context.Context, session admission.SessionID, request admission.Request, resubmit admission.TxID) (Decision, *Follower, error) {
	request.Session = session
	var (
		id     = resubmit
		answer Decision
		follow *Follower
	)
	err := c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error) {
			if id == "" {
				id = txID(next)
			} else if err := owned(st, session, id); err != nil {
				return nil, err
			}
			return admission.Submit{Stamp: stamp, ID: id, Request: request}, nil
		},
		after: func(st *admission.State) error {
			if tx, ok := st.TxByKey(session, request.Key); ok {
				id = tx.ID
			}
			var err error
			answer, err = c.realm.decision(id)
			if err == nil && answer.Waits() {
				follow = c.realm.follow(answer)
			}
			return err
		},
	})
	return answer, follow, err
}

// owned refuses to touch another session's transaction.
func owned(st *admission.State, session admission.SessionID, id admission.TxID) error {
	tx, ok := st.Tx(id)
	if !ok {
		return fmt.Errorf("transaction %s: %w", id, admission.ErrNoTx)
	}
	if tx.Session != session {
		return fmt.Errorf("transaction %s: %w", id, ErrForeign)
	}
	return nil
}

// act runs a command about one of the session's own transactions.
func (c *Coordinator) act(ctx context.Context, session admission.SessionID, id admission.TxID, command func(admission.Stamp) admission.Command) error {
	return c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			if err := owned(st, session, id); err != nil {
				return nil, err
			}
			return command(stamp), nil
		},
	})
}

// Start journals that an admitted call is about to be sent. It returns for how
// long from now on the call may still be sent.
func (c *Coordinator) Start(ctx context.Context, session admission.SessionID, id admission.TxID, token uint64) (time.Duration, error) {
	var left time.Duration
	err := c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			if err := owned(st, session, id); err != nil {
				return nil, err
			}
			return admission.Start{Stamp: stamp, Tx: id, Token: token}, nil
		},
		after: func(st *admission.State) error {
			s, ok := st.Session(session)
			if !ok || s.EndedAt != 0 {
				return fmt.Errorf("session %s: %w", session, admission.ErrNoSession)
			}
			left = time.Duration(s.Expires - c.realm.now())
			return nil
		},
	})
	return left, err
}

// Outcome is what became of a call.
type Outcome = admission.Complete

// Complete journals the outcome of a call. The time of the outcome is set
// here.
func (c *Coordinator) Complete(ctx context.Context, session admission.SessionID, outcome Outcome) error {
	outcome.Digest = c.keyed(outcome.Digest)
	return c.act(ctx, session, outcome.Tx, func(stamp admission.Stamp) admission.Command {
		outcome.Stamp = stamp
		return outcome
	})
}

// Withdraw gives up a transaction that was not started.
func (c *Coordinator) Withdraw(ctx context.Context, session admission.SessionID, id admission.TxID, cause string) error {
	return c.act(ctx, session, id, func(stamp admission.Stamp) admission.Command {
		return admission.Withdraw{Stamp: stamp, Tx: id, Cause: cause}
	})
}

// Resolve settles an uncertain transaction by a named person's word.
func (c *Coordinator) Resolve(ctx context.Context, id admission.TxID, actor, reason string, exists bool) error {
	return c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			return admission.Resolve{Stamp: stamp, Tx: id, Actor: actor, Reason: reason, Exists: exists}, nil
		},
	})
}

// Observe takes over what a session read, and returns the index of the record
// behind which it is known.
func (c *Coordinator) Observe(ctx context.Context, seen admission.Observe) (uint64, error) {
	seen.Objects = slices.Clone(seen.Objects)
	for i := range seen.Objects {
		seen.Objects[i].Digest = c.keyed(seen.Objects[i].Digest)
	}
	var index uint64
	err := c.do(ctx, &op{
		command: func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			seen.Stamp = stamp
			return seen, nil
		},
		after: func(st *admission.State) error {
			index = st.Index()
			return nil
		},
	})
	return index, err
}
