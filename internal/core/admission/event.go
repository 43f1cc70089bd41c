// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "github.com/tfweaver/tfweaver/internal/core/graph"

// Event is one decision. Folding the events of a command onto the state that
// the command found gives the state that it left; nothing is decided anew.
type Event interface{ event() }

// SessionOpened records a new session and its first intent.
type SessionOpened struct {
	Session Session `json:"session"`
	Intent  Intent  `json:"intent"`
}

// LeaseRenewed records a sign of life.
type LeaseRenewed struct {
	Session SessionID `json:"session"`
	Expires int64     `json:"expires"`
	Phase   string    `json:"phase,omitempty"`
}

// SessionEnded records the end of a session and lifts its declarations.
type SessionEnded struct {
	Session SessionID `json:"session"`
	At      int64     `json:"at"`
	How     string    `json:"how"`
}

// IntentAdded records another intent of a session.
type IntentAdded struct {
	Intent Intent `json:"intent"`
}

// NodesPlaced records nodes named for the first time.
type NodesPlaced struct {
	Nodes []graph.Decl `json:"nodes"`
}

// Declared records which objects a session will create.
type Declared struct {
	Session SessionID      `json:"session"`
	Selves  []graph.NodeID `json:"selves"`
}

// TxSubmitted records a new transaction with its ticket, before it is decided
// (or a resubmitted Stale one, with the ticket it had).
type TxSubmitted struct {
	Tx Tx `json:"tx"`
}

// TxQueued records that a transaction waits, and why.
type TxQueued struct {
	Tx       TxID      `json:"tx"`
	Blockers []Blocker `json:"blockers"`
}

// TxAdmitted records that a transaction got all its locks.
type TxAdmitted struct {
	Tx    TxID   `json:"tx"`
	Token uint64 `json:"token"`
	At    int64  `json:"at"`
}

// TxRejected records a refusal, and why.
type TxRejected struct {
	Tx       TxID      `json:"tx"`
	At       int64     `json:"at"`
	Blockers []Blocker `json:"blockers"`
}

// TxStaled records that the graph moved under a lock plan.
type TxStaled struct {
	Tx       TxID      `json:"tx"`
	At       int64     `json:"at"`
	Blockers []Blocker `json:"blockers"`
}

// TxStarted records that the call is about to be sent.
type TxStarted struct {
	Tx TxID  `json:"tx"`
	At int64 `json:"at"`
}

// TxEnded records the end of a transaction that held or wanted locks, and
// what it did to its object.
type TxEnded struct {
	Tx     TxID   `json:"tx"`
	At     int64  `json:"at"`
	Status Status `json:"status"` // Operational, Failed or Withdrawn
	Exists bool   `json:"exists"`
	// Settled is true when the outcome is known to have reached the cloud;
	// false when nothing was sent.
	Settled bool       `json:"settled"`
	Bind    graph.Decl `json:"bind,omitzero"`
	// Collision is true when Bind names an object that was known to be there
	// before the call: both nodes are kept and flagged.
	Collision bool   `json:"collision,omitempty"`
	Digest    string `json:"digest,omitempty"`
	Cause     string `json:"cause,omitempty"`
	// By and Reason are set when a person settled an Uncertain transaction.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// TxUncertain records that the outcome of a running call is not known. Its
// locks stay.
type TxUncertain struct {
	Tx    TxID   `json:"tx"`
	At    int64  `json:"at"`
	Cause string `json:"cause"`
}

// Observed records facts that were taken over from an observation.
type Observed struct {
	Session SessionID     `json:"session"`
	At      int64         `json:"at"`
	Objects []Observation `json:"objects"`
}

// SenderDied records that nothing can be sent any more in the name of a
// session.
type SenderDied struct {
	Session SessionID `json:"session"`
	At      int64     `json:"at"`
}

// TxPassed records that a transaction goes on without its locks, and what was
// in its way.
type TxPassed struct {
	Tx       TxID      `json:"tx"`
	Token    uint64    `json:"token"`
	At       int64     `json:"at"`
	Pass     Pass      `json:"pass"`
	Blockers []Blocker `json:"blockers"`
}

// ClaimAdmitted records that a claim got all its locks, in one step.
type ClaimAdmitted struct {
	Claim Claim `json:"claim"`
}

// ClaimEnded records the end of a claim.
type ClaimEnded struct {
	Claim ClaimID `json:"claim"`
	At    int64   `json:"at"`
	// Broken are the objects whose replace began and will not end: somebody
	// else may get in between (invariant I21 does not hold for them).
	Broken []graph.NodeID `json:"broken,omitempty"`
}

// Measured records readings of buckets that were taken over.
type Measured struct {
	Session  SessionID `json:"session"`
	At       int64     `json:"at"`
	Began    uint64    `json:"began"`
	Readings []Reading `json:"readings"`
}

func (SessionOpened) event() {}
func (SenderDied) event()    {}
func (TxPassed) event()      {}
func (ClaimAdmitted) event() {}
func (ClaimEnded) event()    {}
func (Measured) event()      {}
func (LeaseRenewed) event()  {}
func (SessionEnded) event()  {}
func (IntentAdded) event()   {}
func (NodesPlaced) event()   {}
func (Declared) event()      {}
func (TxSubmitted) event()   {}
func (TxQueued) event()      {}
func (TxAdmitted) event()    {}
func (TxRejected) event()    {}
func (TxStaled) event()      {}
func (TxStarted) event()     {}
func (TxEnded) event()       {}
func (TxUncertain) event()   {}
func (Observed) event()      {}
