// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// TxID names a transaction. The shell chooses it; it is short, because people
// type it.
type TxID string

// SessionID names a session.
type SessionID string

// IntentID names an intent.
type IntentID string

// Policy is what happens to a transaction of a session that conflicts with
// another session. Conflicts within one session always wait.
type Policy string

// The policies of a session.
const (
	Queue  Policy = "queue"
	Reject Policy = "reject"
)

// Action is what a transaction does to its own object.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
	// Read is a stable read that asked for locks.
	Read Action = "read"
	// Reserve is no call: it asks for what a whole plan needs together, and
	// says which of its calls belong together. See [Planned].
	Reserve Action = "reserve"
)

// Status is the state of a transaction.
type Status string

// The states of a transaction; the last five are final.
const (
	Queued      Status = "queued"
	Admitted    Status = "admitted"
	Actioning   Status = "actioning"
	Uncertain   Status = "uncertain"
	Operational Status = "operational"
	Failed      Status = "failed"
	Rejected    Status = "rejected"
	Stale       Status = "stale"
	Withdrawn   Status = "withdrawn"
)

// Holds says whether a transaction in this state holds its locks.
func (s Status) Holds() bool { return s == Admitted || s == Actioning || s == Uncertain }

// Final says whether a transaction in this state will never change again.
func (s Status) Final() bool {
	switch s {
	case Operational, Failed, Rejected, Stale, Withdrawn:
		return true
	default:
		return false
	}
}

// GuardKind is the condition of a guard.
type GuardKind string

// The kinds of guard. All are judged under the locks, at the grant.
const (
	// Present: the object must be there. It passes when nothing is known;
	// waits while another live session has declared the object and not made
	// it; refuses when the object is known to be absent.
	Present GuardKind = "present"
	// Unreferenced: no live reference into the node or what it contains may
	// come from outside, and no live object inside may belong to another
	// owner.
	Unreferenced GuardKind = "unreferenced"
	// Version: the node must have the version it had when the plan was
	// lowered; otherwise the transaction is Stale and must be lowered anew.
	Version GuardKind = "version"
	// SameLife: the node must be in the incarnation the plan was made on;
	// otherwise the caller is refused and has to plan again.
	SameLife GuardKind = "same_life"
	// PlannedAt: the life of the node must not have begun or ended after the
	// plan was made, at the time Value in nanoseconds since the Unix epoch. It is
	// for plans that were made before the session began.
	PlannedAt GuardKind = "planned_at"
)

// Guard is a condition on one node.
type Guard struct {
	Kind GuardKind    `json:"kind"`
	Node graph.NodeID `json:"node"`
	// Value is the version or the incarnation that Version or SameLife asks
	// for.
	Value uint64 `json:"value,omitempty"`
	Rule  string `json:"rule,omitempty"`
}

// Request is everything a transaction asks for. It is lowered from one
// provider call by the rule packs and is fixed once submitted.
type Request struct {
	Session SessionID `json:"session"`
	// Intent is empty for the session's first intent.
	Intent IntentID `json:"intent,omitempty"`
	// Key makes Submit idempotent within the session: the same key gets the
	// same transaction. Zero is no key.
	Key uint64 `json:"key"`
	// Address and Type are Terraform's.
	Address string `json:"address"`
	Type    string `json:"type"`
	Action  Action `json:"action"`
	// Self is the operation's own object (or its name or pending node).
	Self graph.NodeID `json:"self"`
	// Nodes places every node that Locks, Guards, Self and Edges name,
	// parents before children.
	Nodes []graph.Decl `json:"nodes"`
	Locks lock.Plan    `json:"locks"`
	// Guards are checked in order.
	Guards []Guard `json:"guards,omitempty"`
	// Edges are the references that Self will have once the call succeeded;
	// they replace the ones it has. Ignored for deletes.
	Edges []graph.Edge `json:"edges,omitempty"`
	// KeepEdges leaves Self's references as they are; an association object
	// adds and removes single edges of others by AddEdges and DropEdges.
	KeepEdges bool         `json:"keep_edges,omitempty"`
	AddEdges  []graph.Edge `json:"add_edges,omitempty"`
	DropEdges []graph.Edge `json:"drop_edges,omitempty"`
	// Effects is what the call does to capacity.
	Effects escrow.Effects `json:"effects,omitempty"`

	// Plan is the Reserve transaction of the session's plan and Call the
	// planned call that this one is; both empty for a call that no plan
	// foresaw.
	Plan TxID   `json:"plan,omitempty"`
	Call CallID `json:"call,omitempty"`
	// Calls are the calls of the plan, for Reserve alone; Whole makes all of
	// them one claim that begins with the reservation and ends with it.
	Calls []Planned `json:"calls,omitempty"`
	Whole bool      `json:"whole,omitempty"`

	// Advisory lets the call go on whatever stands in its way: what would have
	// made it wait or refused it is noted, and it holds nothing then.
	Advisory bool `json:"advisory,omitempty"`
	// Lands is how long after the death of its sender a call may still show in
	// the cloud, and Timeout how long a living sender may go on trying, both in
	// nanoseconds; 0 means DefaultLands and DefaultTimeout. See [Settle].
	Lands   int64 `json:"lands,omitempty"`
	Timeout int64 `json:"timeout,omitempty"`
}

// The defaults of a request's Lands and Timeout, in nanoseconds. The timeout is
// that of the slowest calls that providers are known to wait for by themselves.
const (
	DefaultLands   = int64(10e9)
	DefaultTimeout = int64(2 * 3600e9)
)

// Tx is a transaction.
type Tx struct {
	ID TxID `json:"id"`
	Request
	// Ticket orders the queue; it is given once, at Submit.
	Ticket uint64 `json:"ticket"`
	Status Status `json:"status"`
	// Token fences the call: strictly growing over all admissions. Zero until
	// admitted.
	Token uint64 `json:"token,omitempty"`
	// Times are nanoseconds since the Unix epoch; zero when not reached.
	SubmittedAt int64 `json:"submitted_at"`
	AdmittedAt  int64 `json:"admitted_at,omitempty"`
	StartedAt   int64 `json:"started_at,omitempty"`
	EndedAt     int64 `json:"ended_at,omitempty"`
	// Blockers are why the transaction waits or was refused, as of the last
	// decision about it.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Cause explains Uncertain, Withdrawn and Stale in a word.
	Cause string `json:"cause,omitempty"`
	// Before is the lifecycle that the object had when the call started.
	Before graph.Lifecycle `json:"before,omitempty"`
	// StartedIndex is the index of the record that started the call.
	StartedIndex uint64 `json:"started_index,omitempty"`
	// By and Reason are set when a person settled the transaction.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Exists says, of an Operational or Failed transaction, whether the object
	// was there afterwards.
	Exists bool `json:"exists,omitempty"`
	// Rank is the ticket of the plan's reservation, which goes before Ticket in
	// the order of the queue; 0 for a transaction that has none to inherit.
	Rank uint64 `json:"rank,omitempty"`
	// Claim is the claim under which the call was admitted, empty for none.
	Claim ClaimID `json:"claim,omitempty"`
	// Passed is set when the call goes on without its locks.
	Passed *Pass `json:"passed,omitempty"`
	// Delayed are the foreign reasons of its first wait, kept for reports.
	Delayed []Blocker `json:"delayed,omitempty"`
}

// Session is who acts.
type Session struct {
	ID SessionID `json:"id"`
	// Actor is a person, pipeline or agent; claimed, not verified.
	Actor string `json:"actor"`
	// Tool is the program, such as "tfweaver 0.1.0 (terraform 1.11.4)".
	Tool   string `json:"tool,omitempty"`
	Host   string `json:"host,omitempty"`
	RunURL string `json:"run_url,omitempty"`
	// Origin identifies the Terraform state the session works for.
	Origin string            `json:"origin,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Policy Policy            `json:"policy"`
	// Lease is how long the session lives without a sign of life.
	Lease    int64 `json:"lease"` // nanoseconds
	Expires  int64 `json:"expires"`
	OpenedAt int64 `json:"opened_at"`
	// EndedAt is zero while the session lives. An ended session is kept as
	// long as a node's history, a declaration or a transaction names it, so
	// that reports stay attributable.
	EndedAt int64 `json:"ended_at,omitempty"`
	// Ended says how it ended: "closed" or "expired".
	Ended string `json:"ended,omitempty"`
	// Phase is shown to others: "planning", "awaiting approval", "applying".
	Phase string `json:"phase,omitempty"`
	// DeadAt is when all processes that could send in the name of the session
	// were found dead; 0 when that is not known.
	DeadAt int64 `json:"dead_at,omitempty"`
}

// Intent is why a session acts.
type Intent struct {
	ID        IntentID  `json:"id"`
	Session   SessionID `json:"session"`
	Objective string    `json:"objective"`
	// Kind is create, update, replace, destroy, read-stable or mixed.
	Kind  string   `json:"kind,omitempty"`
	Links []string `json:"links,omitempty"`
}
