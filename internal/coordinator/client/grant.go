// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Grant is the right to send one call. That of a Reserve sends nothing: it
// holds what the plan needs until Withdraw, or the end of the session.
type Grant struct {
	session *Session
	tx      admission.TxID
	token   uint64
	reserve bool
	passed  *admission.Pass
	report  *conflict.Report
}

// Tx names the transaction.
func (g *Grant) Tx() admission.TxID { return g.tx }

// Passed says how a call goes on that does not hold its locks; nil for one that
// holds them.
func (g *Grant) Passed() *admission.Pass { return g.passed }

// Report says what is in the way of a call that passed; nil otherwise, or when
// nothing is.
func (g *Grant) Report() *conflict.Report { return g.report }

// grant is the right that a decision gives.
func (s *Session) grant(d *weaverv1.Decision) (*Grant, error) {
	g := &Grant{session: s, tx: admission.TxID(d.GetTx()), token: d.GetToken(), reserve: d.GetReservation()}
	if len(d.GetPassed()) == 0 {
		return g, nil
	}
	if err := json.Unmarshal(d.GetPassed(), &g.passed); err != nil {
		return nil, fmt.Errorf("read how the call passed: %w", err)
	}
	if len(d.GetReport()) > 0 {
		report, err := readReport(d.GetReport())
		if err != nil {
			return nil, err
		}
		g.report = &report
	}
	return g, nil
}

// Start journals that the call is about to be sent; only after it returned nil
// may the call leave, and at once. ErrTooLate when the answer came so late
// that the lease may be over: then report NotSent. ErrReservation for the grant
// of a Reserve, which is no call.
func (g *Grant) Start(ctx context.Context) error {
	if g.reserve {
		return fmt.Errorf("%s: %w", g.tx, ErrReservation)
	}
	return g.session.call(ctx, func(ctx context.Context) error {
		asked := time.Now()
		out, err := g.session.client.api.Start(ctx, &weaverv1.StartRequest{Tx: string(g.tx), Token: g.token})
		if err != nil {
			return err
		}
		if elapsed(asked) >= time.Duration(out.GetSendByMs())*time.Millisecond {
			return fmt.Errorf("%s: %w", g.tx, ErrTooLate)
		}
		return nil
	})
}

// elapsed is the longer of what the two clocks say: the monotonic one may
// stand still while the machine is suspended, the other one may be set back.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// Complete journals the outcome. It may also be called when the answer to
// Start got lost, and is tried even after the session was lost: the outcome
// of a call that has left is worth knowing.
func (g *Grant) Complete(ctx context.Context, outcome Outcome) error {
	if g.reserve {
		return fmt.Errorf("%s: %w", g.tx, ErrReservation)
	}
	in := &weaverv1.CompleteRequest{
		Tx: string(g.tx), Token: g.token, Result: string(outcome.Result),
		Exists: outcome.Exists, Digest: outcome.Digest,
	}
	if outcome.BindID != "" {
		bind, err := json.Marshal(graph.Decl{
			ID: graph.NodeID(outcome.BindID), Parent: graph.NodeID(outcome.BindParent),
			Kind: graph.Resource, Type: outcome.BindType,
		})
		if err != nil {
			return fmt.Errorf("write the outcome: %w", err)
		}
		in.Bind = bind
	}
	s := g.session
	defer s.questions.ask()()
	return retry(ctx, s.patience, func() error {
		_, err := s.client.api.Complete(s.signed(ctx), in)
		return s.client.explain(ctx, err)
	})
}

// Withdraw gives the right back unused, or ends a reservation.
func (g *Grant) Withdraw(ctx context.Context) error {
	return g.session.call(ctx, func(ctx context.Context) error {
		_, err := g.session.client.api.Withdraw(ctx, &weaverv1.WithdrawRequest{Tx: string(g.tx), Cause: "not sent"})
		return err
	})
}

// Pass lets one of the session's own transactions, which waits or was refused,
// go on without its locks; the pass's Mode ("wait", "offline" or "override"),
// and for an override By, Reason and Of, have to be set. A Submit that still waits for the transaction returns the
// same grant. Its end must then be told once.
func (s *Session) Pass(ctx context.Context, tx admission.TxID, pass admission.Pass) (*Grant, error) {
	var d *weaverv1.Decision
	err := s.call(ctx, func(ctx context.Context) (err error) {
		d, err = s.client.api.Pass(ctx, &weaverv1.PassRequest{
			Tx: string(tx), Mode: pass.Mode, By: pass.By, Reason: pass.Reason, Of: string(pass.Of),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.settle(d, 0)
}
