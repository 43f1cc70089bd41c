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
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Grant is the right to send one call.
type Grant struct {
	session *Session
	tx      admission.TxID
	token   uint64
}

// Tx names the transaction.
func (g *Grant) Tx() admission.TxID { return g.tx }

// Start journals that the call is about to be sent; only after it returned nil
// may the call leave, and at once. ErrTooLate when the answer came so late
// that the lease may be over: then report NotSent.
func (g *Grant) Start(ctx context.Context) error {
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
	return retry(ctx, s.lease, func() error {
		_, err := s.client.api.Complete(s.signed(ctx), in)
		return s.client.explain(ctx, err)
	})
}

// Withdraw gives the right back unused.
func (g *Grant) Withdraw(ctx context.Context) error {
	return g.session.call(ctx, func(ctx context.Context) error {
		_, err := g.session.client.api.Withdraw(ctx, &weaverv1.WithdrawRequest{Tx: string(g.tx), Cause: "not sent"})
		return err
	})
}
