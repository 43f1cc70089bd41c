// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package client is how every product reaches a coordinator, also an embedded
// one, so that one machine and a cluster share one path.
package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// SessionConfig is who opens a session, and what for.
type SessionConfig struct {
	Actor, Tool, Host, RunURL string
	// Origin identifies the Terraform state: backend and workspace.
	Origin string
	Labels map[string]string
	Policy admission.Policy
	// Lease is how long the session lives without a sign of life; 0 means
	// DefaultLease.
	Lease     time.Duration
	Objective string
	Kind      string
	Links     []string
	Phase     string
}

// DefaultLease is long enough for a pause of the machine's scheduler and short
// enough that a killed run does not hold up others for long.
const DefaultLease = 30 * time.Second

// Prospect is what would become of one operation if it were submitted now.
type Prospect struct {
	Address     string
	Decision    string // admit, wait, reject or replan
	Report      *conflict.Report
	Incarnation uint64
	Version     uint64
}

// Waiting is told while a transaction waits: at once, and whenever what it
// waits for changes. Foreign is true when another session is in the way.
type Waiting struct {
	Tx      admission.TxID
	Report  conflict.Report
	Foreign bool
}

// Outcome is what became of a call.
type Outcome struct {
	Result admission.Result
	Exists bool
	// BindID and BindParent place the id that the cloud chose.
	BindID, BindParent string
	BindType           string
	Digest             string
}

// RejectedError is the coordinator's refusal of a transaction.
type RejectedError struct {
	Report conflict.Report
}

// Error names the transaction; the report has the rest.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("refused by the coordinator (%s): %s", e.Report.ID, e.Report.Decision)
}

// Errors that callers decide on.
var (
	// ErrStale: the graph moved; lower the plan anew and resubmit.
	ErrStale = errors.New("the graph changed while the call was being planned")
	// ErrWithdrawn: the transaction was withdrawn, by this session or because
	// its session ended.
	ErrWithdrawn = errors.New("the transaction was withdrawn")
	// ErrSessionEnded: the lease ran out or the session was closed.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrUnreachable: no coordinator answers at the address.
	ErrUnreachable = errors.New("the coordinator cannot be reached")
)

// The client's methods, over the other files of this package:
//
//	Dial(ctx, target string) (*Client, error)              target: unix:///path
//	(*Client) Info(ctx) (*weaverv1.InfoResponse, error)
//	(*Client) Open(ctx, SessionConfig) (*Session, error)   starts heartbeats
//	(*Client) Status(ctx) (coordinator.Status, error)
//	(*Client) Explain(ctx, tx) (conflict.Report, admission.Status, error)
//	(*Client) Resolve(ctx, tx, actor, reason string, exists bool) error
//	(*Client) Watch(ctx) iter.Seq2[*weaverv1.WatchEvent, error]
//	(*Client) Close() error
//
//	(*Session) ID() string
//	(*Session) SetPhase(string)
//	(*Session) Done() <-chan struct{}, Err() error         session lost
//	(*Session) Forecast(ctx, []admission.Request, declare bool) ([]Prospect, error)
//	(*Session) Submit(ctx, admission.Request, resubmit admission.TxID, onWait func(Waiting)) (*Grant, error)
//	      blocks until admitted; ctx ending withdraws; *RejectedError, ErrStale
//	      (a *StaleError carrying the TxID), ErrWithdrawn, ErrSessionEnded;
//	      reconnects with the same key after a transport error until the lease
//	      is over
//	(*Session) Observe(ctx, began uint64, nodes []graph.Decl, objects []admission.Observation) (uint64, error)
//	(*Session) Lookup(ctx, ...graph.NodeID) ([]coordinator.Found, uint64 index, error)
//	(*Session) Close(ctx) (peers int, error)
//	(*Grant) Tx() admission.TxID
//	(*Grant) Start(ctx) error                              refuses after the send-by time
//	(*Grant) Complete(ctx, Outcome) error                  also after a lost Start answer
//	(*Grant) Withdraw(ctx) error
