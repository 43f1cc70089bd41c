// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Command is a request to change the state. Now is the time of the command in
// nanoseconds since the Unix epoch; the shell makes sure that it never goes
// back (time of a record = max(last + 1, clock)).
type Command interface{ command() }

// Stamp is the time of a command.
type Stamp struct {
	Now int64 `json:"now"`
}

// OpenSession begins a session with its first intent.
type OpenSession struct {
	Stamp
	Session Session `json:"session"`
	Intent  Intent  `json:"intent"`
}

// Renew prolongs a session's lease and may change its phase.
type Renew struct {
	Stamp
	Session SessionID `json:"session"`
	Phase   string    `json:"phase,omitempty"`
}

// CloseSession ends a session: what waits is withdrawn, what was admitted and
// not started is withdrawn, what is running becomes Uncertain.
type CloseSession struct {
	Stamp
	Session SessionID `json:"session"`
}

// AddIntent gives a session another intent.
type AddIntent struct {
	Stamp
	Intent Intent `json:"intent"`
}

// Declare says which objects the session's approved plan will create. It
// replaces what the session declared before.
type Declare struct {
	Stamp
	Session SessionID    `json:"session"`
	Creates []graph.Decl `json:"creates"` // with all ancestors, parents first
	// Selves are the ids among Creates that will be created.
	Selves []graph.NodeID `json:"selves"`
}

// Submit asks for admission. Resubmit a Stale transaction under its old ID to
// keep its ticket.
type Submit struct {
	Stamp
	ID      TxID    `json:"id"`
	Request Request `json:"request"`
}

// Start announces that the admitted call is about to be sent. Only after it
// was journalled may the call leave.
type Start struct {
	Stamp
	Tx    TxID   `json:"tx"`
	Token uint64 `json:"token"`
}

// Result is the outcome that the caller reports.
type Result string

// The results of a call.
const (
	Succeeded Result = "succeeded"
	// Errored: the provider answered with an error; Exists says what is left.
	Errored Result = "errored"
	// Lost: the answer was lost.
	Lost Result = "lost"
	// NotSent: the call was admitted and never left.
	NotSent Result = "not_sent"
)

// Complete reports the outcome of a call.
type Complete struct {
	Stamp
	Tx     TxID   `json:"tx"`
	Token  uint64 `json:"token"`
	Result Result `json:"result"`
	// Exists says whether the object is there afterwards.
	Exists bool `json:"exists"`
	// Bind is the id that the cloud chose, where Self was a name or a pending
	// node; empty otherwise.
	Bind   graph.Decl `json:"bind,omitzero"`
	Digest string     `json:"digest,omitempty"`
}

// Withdraw gives up a transaction that was not started.
type Withdraw struct {
	Stamp
	Tx    TxID   `json:"tx"`
	Cause string `json:"cause,omitempty"`
}

// Observation is one object as a provider read it.
type Observation struct {
	Decl graph.Decl `json:"decl"`
	// Exists is false when the provider said that the object is gone.
	Exists  bool   `json:"exists"`
	Digest  string `json:"digest,omitempty"`
	Address string `json:"address,omitempty"`
	// Edges are all references of the object; nil when they are not known,
	// which the journal must not confuse with none.
	Edges []graph.Edge `json:"edges"`
}

// Observe reports what a refresh or an import saw.
type Observe struct {
	Stamp
	Session SessionID `json:"session"`
	// Began is the journal index that the reader knew before the read began;
	// an observation never overrides a change that was in flight or ended
	// after it.
	Began uint64 `json:"began"`
	// Nodes places the ancestors of what was observed, parents first.
	Nodes   []graph.Decl  `json:"nodes"`
	Objects []Observation `json:"objects"`
}

// Expire ends the sessions whose lease has run out at Now.
type Expire struct {
	Stamp
}

// Resolve settles an Uncertain transaction by a named person's word.
type Resolve struct {
	Stamp
	Tx     TxID   `json:"tx"`
	Actor  string `json:"actor"`
	Reason string `json:"reason"`
	// Exists says whether the object is there.
	Exists bool `json:"exists"`
}

// Deceased says that all processes that could send calls in the name of a
// session are dead. It ends the session if it lives. The shell finds that out
// by itself; it never believes another session.
type Deceased struct {
	Stamp
	Session SessionID `json:"session"`
}

// Settle reports what a session read of the object of an Uncertain
// transaction, so that it is settled without a person. A read proves little as
// long as the call may still land: see settle.go for what it proves when.
type Settle struct {
	Stamp
	// Session is the one that read, with its own credentials.
	Session SessionID `json:"session"`
	Tx      TxID      `json:"tx"`
	// Began is the journal index that the reader knew before the read began,
	// and BeganAt the time of the coordinator then.
	Began   uint64 `json:"began"`
	BeganAt int64  `json:"began_at"`
	Exists  bool   `json:"exists"`
	// Terminal: no operation on the object is in progress any more.
	Terminal bool   `json:"terminal"`
	Digest   string `json:"digest,omitempty"`
}

// Pass lets a transaction that waits or was refused go on without its locks.
type Pass struct {
	Stamp
	Tx TxID `json:"tx"`
	// Mode says why: "observe", "wait", "offline" or "override".
	Mode string `json:"mode"`
	// By and Reason are of the person who overrides, and Of is the decision
	// that they saw.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Of     TxID   `json:"of,omitempty"`
}

// Reading is what a read said about a bucket.
type Reading struct {
	Bucket escrow.Key   `json:"bucket"`
	Limit  escrow.Bound `json:"limit"`
	// Use is everybody's use, unknown if not set.
	Use escrow.Bound `json:"use"`
}

// Measure reports what a read said about buckets.
type Measure struct {
	Stamp
	Session SessionID `json:"session"`
	// Began is the journal index that the reader knew before the read began.
	Began    uint64    `json:"began"`
	Readings []Reading `json:"readings"`
}

func (OpenSession) command()  {}
func (Deceased) command()     {}
func (Settle) command()       {}
func (Pass) command()         {}
func (Measure) command()      {}
func (Renew) command()        {}
func (CloseSession) command() {}
func (AddIntent) command()    {}
func (Declare) command()      {}
func (Submit) command()       {}
func (Start) command()        {}
func (Complete) command()     {}
func (Withdraw) command()     {}
func (Observe) command()      {}
func (Expire) command()       {}
func (Resolve) command()      {}

// Errors of Apply. A command that fails with one of them changed nothing and
// is not journalled.
var (
	ErrNoSession  = errors.New("no such session, or it has ended")
	ErrNoTx       = errors.New("no such transaction")
	ErrToken      = errors.New("the fencing token is not the transaction's")
	ErrStatus     = errors.New("the transaction is not in a state that allows this")
	ErrDuplicate  = errors.New("the id is in use")
	ErrMalformed  = errors.New("malformed request")
	ErrMisplaced  = graph.ErrMisplaced
	ErrTimeBack   = errors.New("time went back")
	ErrKeyReused  = errors.New("the idempotency key was used for another request")
	ErrUndeclared = errors.New("a node is named that the request does not place")
	// ErrUnsettled: what was read does not prove how the call ended, or not
	// yet; see [UnsettledError].
	ErrUnsettled = errors.New("the read does not settle the call")
	// ErrReplay: a record does not follow the state it is folded onto. The
	// journal, or the program that wrote it, is damaged.
	ErrReplay = errors.New("the record does not follow the state")
	// ErrNewer: a record or snapshot holds something that only a newer
	// version of the program knows. Nothing was read from it.
	ErrNewer = errors.New("written by a newer version")
)
