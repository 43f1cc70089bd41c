// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package conflict is the conflict report: one object for the command line,
// the API, the run task and agents. It names who is in the way, what for,
// since when, on what grounds, and what to do next.
//
// A report never invents: what a viewer may not see is redacted.
package conflict

// Schema identifies the version of the report's JSON form.
const Schema = "weaver.conflict/v1"

// Decision is what the coordinator decided.
type Decision string

// The decisions that carry a report.
const (
	Wait   Decision = "wait"
	Reject Decision = "reject"
	Replan Decision = "replan"
)

// Report explains one transaction: a decision about it, or, where there is
// none, how it stands.
type Report struct {
	Schema string `json:"schema"`
	// ID is the transaction; for a forecast, which has none, the address.
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	// Status is the state of the transaction, such as "actioning"; empty for a
	// forecast.
	Status string `json:"status,omitempty"`
	// Since is when it came into that state, in RFC 3339; for an uncertain one
	// when its call began, for one that has ended when it ended.
	Since string `json:"since,omitempty"`
	// Age is for how long that has been so, in seconds.
	Age       float64 `json:"age,omitempty"`
	Requester Party   `json:"requester"`
	Address   string  `json:"address"`
	Action    string  `json:"action"`
	// Object is what the transaction is about.
	Object *Resource `json:"object,omitempty"`
	// Holds are the locks that it holds, intentions included.
	Holds []Hold `json:"holds,omitempty"`
	// Outcome is how it ended, or why nobody knows.
	Outcome    *Outcome   `json:"outcome,omitempty"`
	Conflicts  []Conflict `json:"conflicts"`
	Wait       *WaitInfo  `json:"wait,omitempty"`
	Actions    []Advice   `json:"actions,omitempty"`
	RetryAfter float64    `json:"retry_after,omitempty"` // seconds
}

// forecast says whether the report is about a request without a transaction.
func (r Report) forecast() bool { return r.Status == "" && (r.ID == "" || r.ID == r.Address) }

// Hold is a lock on a resource.
type Hold struct {
	Resource Resource `json:"resource"`
	Mode     string   `json:"mode"`
}

// Outcome is how a transaction ended, or why nobody knows.
type Outcome struct {
	// Exists says whether the object was there afterwards; nil when that is not
	// known, or nothing was sent.
	Exists *bool `json:"exists,omitempty"`
	// Cause is a word for why, such as "answer lost".
	Cause string `json:"cause,omitempty"`
	// By and Reason are of the person who settled it.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Party is the side that asks.
type Party struct {
	Session string `json:"session"`
	Intent  string `json:"intent"`
	Actor   string `json:"actor"`
	// ActorClaimed: nobody has verified that the actor is who it says.
	ActorClaimed bool   `json:"actor_claimed,omitempty"`
	RunURL       string `json:"run_url,omitempty"`
	// State identifies the Terraform state that the session works on.
	State string `json:"state,omitempty"`
	// Killed is true when the session ended without saying so.
	Killed bool `json:"killed,omitempty"`
}

// Conflict is one reason.
type Conflict struct {
	Resource   Resource `json:"resource"`
	Relation   string   `json:"relation"`
	Class      string   `json:"class,omitempty"`
	ModeHeld   string   `json:"mode_held,omitempty"`
	ModeWanted string   `json:"mode_wanted,omitempty"`
	RuleID     string   `json:"rule_id,omitempty"`
	RuleDoc    string   `json:"rule_doc,omitempty"`
	Fact       *Fact    `json:"fact,omitempty"`
	Holder     *Holder  `json:"holder,omitempty"`
	// Capacity is set when a count is short.
	Capacity *Capacity `json:"capacity,omitempty"`
	// Exceeded: the call needs more than was foreseen and held for its plan,
	// and the plan does not wait half-way.
	Exceeded bool `json:"exceeded,omitempty"`
	// Failed is the call that has failed and without which this one must not be
	// sent, such as the create of a replace.
	Failed string `json:"failed,omitempty"`
}

// Capacity is a count that does not have what is asked for, in its own unit.
type Capacity struct {
	// Bucket is what is counted, such as "cores".
	Bucket string `json:"bucket"`
	Limit  int64  `json:"limit"`
	// Used is in use now; Reserved is what changes in flight may add, of which
	// Theirs by the holder; Asked is what the requester needs.
	Used     int64 `json:"used"`
	Reserved int64 `json:"reserved"`
	Theirs   int64 `json:"theirs,omitempty"`
	// Doubt is how much of Reserved may be counted in Used already: what was in
	// flight when use was read.
	Doubt int64 `json:"doubt,omitempty"`
	Asked int64 `json:"asked"`
	// Hopeless: what is in flight cannot make room.
	Hopeless bool `json:"hopeless,omitempty"`
}

// Resource is what the conflict is about.
type Resource struct {
	CloudID string `json:"cloud_id"`
	Address string `json:"address,omitempty"`
	Type    string `json:"type,omitempty"`
	LocalID string `json:"local_id,omitempty"`
}

// Fact is what is known, and how old that knowledge is.
type Fact struct {
	What   string  `json:"what"`
	Age    float64 `json:"age"` // seconds
	Source string  `json:"source"`
	// Object is what was found, where that is not the resource itself: what it
	// contains, or what refers to it.
	Object *Resource `json:"object,omitempty"`
	// State identifies the Terraform state that Object belongs to; empty when
	// not known.
	State string `json:"state,omitempty"`
}

// Holder is the side that is in the way.
type Holder struct {
	Session   string `json:"session"`
	Tx        string `json:"tx,omitempty"`
	Address   string `json:"address,omitempty"`
	Action    string `json:"action,omitempty"`
	Intent    string `json:"intent"` // intent id
	Objective string `json:"objective"`
	Actor     string `json:"actor"`
	// ActorClaimed: nobody has verified that the actor is who it says.
	ActorClaimed bool   `json:"actor_claimed,omitempty"`
	Tool         string `json:"tool,omitempty"`
	RunURL       string `json:"run_url,omitempty"`
	// Phase is what the holder of a Terraform state is at, as it says itself,
	// such as "awaiting approval".
	Phase string `json:"phase,omitempty"`
	// State is running, admitted, waiting, uncertain, declared or ended.
	State string `json:"state"`
	// Since is when the holder began to hold, in RFC 3339.
	Since        string  `json:"since,omitempty"`
	HeldFor      float64 `json:"held_for,omitempty"` // seconds
	LeaseExpires string  `json:"lease_expires,omitempty"`
	// Claim is true when several calls are held together, such as those of a
	// replace.
	Claim bool `json:"claim,omitempty"`
	// Result is how the holder's last change ended, such as "half replaced".
	Result string `json:"result,omitempty"`
	// Dead is true when the holder's processes are known to be dead.
	Dead     bool `json:"dead,omitempty"`
	Redacted bool `json:"redacted"`
}

// WaitInfo is the place in the queue.
type WaitInfo struct {
	Position int `json:"position"`
	Ahead    int `json:"ahead"`
	// Waited is for how long the transaction has waited, in seconds.
	Waited float64 `json:"waited"`
}

// Advice is a next step and the command for it.
type Advice struct {
	Verb    string `json:"verb"` // wait, revise, abort or verify
	Command string `json:"command,omitempty"`
	Text    string `json:"text,omitempty"`
}
