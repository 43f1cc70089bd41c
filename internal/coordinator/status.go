// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Status is everything that is going on, for people and programs.
type Status struct {
	Version  string `json:"version"`
	Host     string `json:"host"`
	Store    string `json:"store"`
	Embedded bool   `json:"embedded"`
	Epoch    uint64 `json:"epoch"`
	Index    uint64 `json:"index"`
	Now      int64  `json:"now"`
	// Sessions are the live ones.
	Sessions []SessionStatus `json:"sessions"`
	// Transactions are the ones that hold or wait, in ticket order.
	Transactions []TxStatus `json:"transactions"`
	// Locks are the held locks, by node.
	Locks []LockStatus `json:"locks"`
	// Claims are what calls of one plan hold together.
	Claims []ClaimStatus `json:"claims"`
	// Buckets are those of which something is known, by key.
	Buckets []BucketStatus `json:"buckets"`
	// Declared are the objects that sessions will create.
	Declared []graph.Node `json:"declared"`
}

// SessionStatus is one live session with its intents.
type SessionStatus struct {
	admission.Session
	Intents []admission.Intent `json:"intents"`
	// Dead: all processes that could send in its name are known to be dead.
	Dead bool `json:"dead,omitempty"`
	// Claimed: nobody has verified who the session is; see LabelIdentity.
	Claimed bool `json:"claimed,omitempty"`
}

// LabelIdentity is the label in which the coordinator says how it knows a
// session: IdentityClaimed or IdentityLocal. What a client says there is
// overwritten.
const LabelIdentity = "tfweaver/identity"

// LabelOpening is the label of the digest of the secret with which a session
// was opened: the same opening gets the same session. What a client says there is
// overwritten.
const LabelOpening = "tfweaver/opening"

const (
	// IdentityClaimed: the session came over a network with the coordinator's
	// token; who it says it is was not verified.
	IdentityClaimed = "claimed"
	// IdentityLocal: the session's process belongs to the coordinator's own
	// user and runs on the same machine.
	IdentityLocal = "local"
)

// TxStatus is one transaction and its place in the queue; Position is 0 when
// it does not wait.
type TxStatus struct {
	admission.Tx
	// Actor is that of the session, which may have ended.
	Actor    string `json:"actor"`
	Position int    `json:"position,omitempty"`
	Ahead    int    `json:"ahead,omitempty"`
	// Unsettled is what can settle the transaction, when its outcome is not
	// known.
	Unsettled *Unsettled `json:"unsettled,omitempty"`
}

// ClaimStatus is one active claim.
type ClaimStatus struct {
	admission.Claim
	Session   admission.SessionID `json:"session"`
	Actor     string              `json:"actor"`
	Objective string              `json:"objective"`
	// Running are the transactions of its calls that are not final, by ticket.
	Running []admission.TxID `json:"running"`
}

// LockStatus is one held lock. The session may have ended: a call with an
// unknown outcome keeps its locks.
type LockStatus struct {
	Node    graph.NodeID        `json:"node"`
	Mode    string              `json:"mode"`
	Tx      admission.TxID      `json:"tx"`
	Session admission.SessionID `json:"session"`
	Actor   string              `json:"actor"`
	Address string              `json:"address"`
	Since   int64               `json:"since"`
}

// Found is one node with its references, as Lookup returns it.
type Found struct {
	Node  graph.Node   `json:"node"`
	Known bool         `json:"known"`
	Out   []graph.Edge `json:"out,omitempty"`
	In    []graph.Edge `json:"in,omitempty"`
}
