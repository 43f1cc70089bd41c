// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package client is how every product reaches a coordinator, also an embedded
// one, so that one machine and a cluster share one path.
//
// A [Session] keeps its lease by itself. A coordinator that restarts within
// the lease is not noticed, except as a delay: calls are repeated under the
// same key until the lease is over and some patience too. Then the session is
// lost, which ErrLost says. The first calls are repeated too: one that meets a
// coordinator just as that ends finds its successor.
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
	Lease time.Duration
	// Patience is for how long beyond the lease a coordinator that does not
	// answer is waited for; 0 means DefaultPatience.
	Patience  time.Duration
	Objective string
	Kind      string
	Links     []string
	Phase     string
}

// DefaultLease is long enough for a pause of the machine's scheduler and short
// enough that a killed run does not hold up others for long.
const DefaultLease = 30 * time.Second

// DefaultPatience is long enough for another coordinator to take over from one
// whose death was noticed at the end of the lease.
const DefaultPatience = 5 * time.Second

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

// StaleError is the answer to a plan that the graph has moved under.
type StaleError struct {
	// Tx keeps its ticket for a few seconds: lower the plan anew and submit
	// it under this id.
	Tx admission.TxID
	// Report says what has changed.
	Report conflict.Report
}

// Error names the transaction.
func (e *StaleError) Error() string { return fmt.Sprintf("%s: %s", e.Tx, ErrStale) }

// Unwrap is ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// ProtocolError is ErrProtocol with who speaks what.
type ProtocolError struct {
	// Target is the coordinator's address, Version that of its program.
	Target, Version string
	// Theirs is the coordinator's protocol; this program's is Protocol.
	Theirs uint32
}

// Error names both sides and the remedy.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the coordinator at %s (tfweaver %s) speaks protocol %d, this program %d: use the same version of tfweaver on both sides",
		e.Target, e.Version, e.Theirs, Protocol)
}

// Unwrap is ErrProtocol.
func (e *ProtocolError) Unwrap() error { return ErrProtocol }

// Errors that callers decide on.
var (
	// ErrStale: the graph moved; lower the plan anew and resubmit.
	ErrStale = errors.New("the graph changed while the call was being planned")
	// ErrWithdrawn: the transaction was withdrawn, by this session or because
	// its session ended.
	ErrWithdrawn = errors.New("the transaction was withdrawn")
	// ErrImpatient is for callers to cancel a Submit with that took as long as it
	// may; see there.
	ErrImpatient = errors.New("the wait took as long as it may")
	// ErrSessionEnded: the lease ran out or the session was closed.
	ErrSessionEnded = errors.New("the session has ended")
	// ErrLost: the coordinator was not heard of for the lease and the session's
	// patience. The session is over on this side, so ErrSessionEnded goes with
	// it; what others were promised may have been given away. Whether to go on
	// without a coordinator is for the caller to decide.
	ErrLost = errors.New("the coordinator was lost")
	// ErrTooLate: the lease may be over before the call would be sent.
	ErrTooLate = errors.New("too late to send the call: the lease may have run out")
	// ErrReservation: the grant is that of a reservation, which is no call.
	ErrReservation = errors.New("a reservation is no call: nothing is sent for it")
	// ErrProtocol: the coordinator is of a version that means something else by
	// what is said. A session ends with it when such a one takes the place of
	// the coordinator that it was opened with.
	ErrProtocol = errors.New("the coordinator speaks another protocol")
	// ErrUnreachable: no coordinator answers at the address.
	ErrUnreachable = errors.New("the coordinator cannot be reached")
	// ErrNoToken: a coordinator on a network asks for a token.
	ErrNoToken = errors.New("there is no token for the coordinator")
	// ErrTokenRefused: the coordinator knows another token.
	ErrTokenRefused = errors.New("the token was refused")
	// ErrCertificate: the coordinator's certificate does not prove that it is the
	// one that was meant.
	ErrCertificate = errors.New("the coordinator's certificate is not trusted")
	// ErrPlaintext: what answers does not speak TLS.
	ErrPlaintext = errors.New("what answers does not speak TLS")
	// ErrDenied: the socket is another user's. A coordinator serves one user.
	ErrDenied = errors.New("the coordinator belongs to another user")
	// ErrAddress: what was given is no address of a coordinator.
	ErrAddress = errors.New("is no address of a coordinator")
)
