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
	// Declared are the objects that sessions will create.
	Declared []graph.Node `json:"declared"`
}

// SessionStatus is one live session with its intents.
type SessionStatus struct {
	admission.Session
	Intents []admission.Intent `json:"intents"`
}

// TxStatus is one transaction and its place in the queue; Position is 0 when
// it does not wait.
type TxStatus struct {
	admission.Tx
	// Actor is that of the session, which may have ended.
	Actor    string `json:"actor"`
	Position int    `json:"position,omitempty"`
	Ahead    int    `json:"ahead,omitempty"`
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
