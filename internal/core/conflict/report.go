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

// Report explains one decision about one transaction.
type Report struct {
	Schema     string     `json:"schema"`
	ID         string     `json:"id"`
	Decision   Decision   `json:"decision"`
	Requester  Party      `json:"requester"`
	Address    string     `json:"address"`
	Action     string     `json:"action"`
	Conflicts  []Conflict `json:"conflicts"`
	Wait       *WaitInfo  `json:"wait,omitempty"`
	Actions    []Advice   `json:"actions,omitempty"`
	RetryAfter float64    `json:"retry_after,omitempty"` // seconds
}

// Party is the side that asks.
type Party struct {
	Session string `json:"session"`
	Intent  string `json:"intent"`
	Actor   string `json:"actor"`
	RunURL  string `json:"run_url,omitempty"`
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
	Tool      string `json:"tool,omitempty"`
	RunURL    string `json:"run_url,omitempty"`
	// State is running, admitted, waiting, uncertain, declared or ended.
	State string `json:"state"`
	// Since is when the holder began to hold, in RFC 3339.
	Since        string  `json:"since,omitempty"`
	HeldFor      float64 `json:"held_for,omitempty"` // seconds
	LeaseExpires string  `json:"lease_expires,omitempty"`
	Redacted     bool    `json:"redacted"`
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
