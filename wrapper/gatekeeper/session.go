// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Session is this run's session with the coordinator.
type Session interface {
	ID() string
	Done() <-chan struct{}
	Err() error
	Forecast(ctx context.Context, requests []admission.Request, declare bool) ([]client.Prospect, error)
	Submit(ctx context.Context, request admission.Request, resubmit admission.TxID, onWait func(client.Waiting)) (Grant, error)
	Observe(ctx context.Context, began uint64, nodes []graph.Decl, objects []admission.Observation) (uint64, error)
	Lookup(ctx context.Context, ids ...graph.NodeID) ([]coordinator.Found, uint64, error)
	// Moment is where the journal stands, for a read that is about to begin.
	Moment(ctx context.Context) (coordinator.Moment, error)
	// Measure and Buckets are about capacity.
	Measure(ctx context.Context, began uint64, readings []admission.Reading) error
	Buckets(ctx context.Context, keys ...escrow.Key) ([]coordinator.BucketStatus, error)
	// Unsettled are the calls with an unknown outcome in the way of a
	// transaction of this session; Settle says what was read of one, with
	// *client.UnsettledError where that proves nothing yet.
	Unsettled(ctx context.Context, tx admission.TxID) ([]coordinator.Unsettled, error)
	Settle(ctx context.Context, read admission.Settle) error
	// Pass lets a transaction of this session that waits or was refused go on.
	Pass(ctx context.Context, tx admission.TxID, pass admission.Pass) (Grant, error)
}

// Grant is the right to send one call.
type Grant interface {
	Tx() admission.TxID
	// Passed says how a call goes on that does not hold its locks; nil for one
	// that holds them. Report says what is in its way, nil for nothing.
	Passed() *admission.Pass
	Report() *conflict.Report
	Start(ctx context.Context) error
	Complete(ctx context.Context, outcome client.Outcome) error
	Withdraw(ctx context.Context) error
}

// coordinated is a session of the client as a [Session].
type coordinated struct{ *client.Session }

// Coordinated makes a client's session usable by a gatekeeper.
func Coordinated(s *client.Session) Session { return coordinated{s} }

// Submit implements Session.
func (c coordinated) Submit(ctx context.Context, r admission.Request, resubmit admission.TxID, onWait func(client.Waiting)) (Grant, error) {
	grant, err := c.Session.Submit(ctx, r, resubmit, onWait)
	if err != nil {
		return nil, err
	}
	return grant, nil
}

// Pass implements Session.
func (c coordinated) Pass(ctx context.Context, tx admission.TxID, pass admission.Pass) (Grant, error) {
	grant, err := c.Session.Pass(ctx, tx, pass)
	if err != nil {
		return nil, err
	}
	return grant, nil
}
