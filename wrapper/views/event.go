// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Waiting tells that a change waits, or still waits.
type Waiting struct {
	Address string
	Report  conflict.Report
	// Waited is for how long it has waited so far; 0 the first time.
	Waited time.Duration
}

// Admitted tells that a change that had waited may go on.
type Admitted struct {
	Address string
	Tx      string
	Waited  time.Duration
}

// Refused tells that a change was not sent.
type Refused struct {
	Address string
	// Reason is one sentence, for refusals without a report.
	Reason string
	Report *conflict.Report
	// OwnState are the objects of the plan's own state that are in the way,
	// when nothing else is.
	OwnState []string
}

// Forecast tells what would become of a plan if it were applied now.
type Forecast struct {
	// Changes is how many changes the plan has.
	Changes int
	// Reports are the changes that would wait or be refused.
	Reports []conflict.Report
	// Passing are those that would be refused, and go on: nothing is refused
	// where they work.
	Passing []conflict.Report
	// NoWait is true when the run was told not to wait at all.
	NoWait bool
	// Uncovered are the resource types that no rule pack knows, sorted.
	Uncovered []string
	// Covered counts the changes of types that a rule pack knows.
	Covered int
	// Unforeseen are the changes of which the rules cannot tell yet what they
	// mean, such as those of a provider whose configuration is not known
	// before something else is made.
	Unforeseen []Unforeseen
}

// Unforeseen is a change that only its call will explain.
type Unforeseen struct {
	Address string
	Reason  string
}

// Quiet says whether there is nothing in the forecast that is worth a line.
func (f Forecast) Quiet() bool {
	return len(f.Reports)+len(f.Passing)+len(f.Uncovered)+len(f.Unforeseen) == 0
}

// Stops says whether a change of the plan is refused for certain.
func (f Forecast) Stops() bool {
	for _, r := range f.Reports {
		if r.Decision != conflict.Wait {
			return true
		}
	}
	return false
}

// Problem is an error or a warning about the run as a whole.
type Problem struct {
	Warning bool
	Summary string
	// Detail says what is the matter and what to do; it may have several
	// lines.
	Detail string
}

// Waited is one entry of the summary: a change that had to wait.
type Waited struct {
	Address string
	// For is for how long other sessions were in the way. Waits for calls of
	// the same run do not count.
	For time.Duration
	// Holders are the other sessions that it waited for, in the order in
	// which they were in the way; empty when none is known.
	Holders []Party
	// Refused is true when the wait did not end well.
	Refused bool
}

// Uncertain is a change whose outcome is not known.
type Uncertain struct {
	Address string
	Tx      string
	// GaveUp is true when the provider answered that it stopped waiting for
	// the cloud, as it does when it is told to stop; otherwise its answer was
	// lost.
	GaveUp bool
	// Seen is true when this run knows the outcome, and only the coordinator
	// could not be told; Failed and Exists are the outcome then.
	Seen, Failed, Exists bool
}

// Modes in which a change goes on although something is in its way.
const (
	// Observing: the run is only to show what coordination would do.
	Observing = "observe"
	// WaitOnly: the run may be delayed, and never refused.
	WaitOnly = "wait"
	// Overridden: a person passed this decision.
	Overridden = "override"
	// Offline: the coordinator cannot be reached.
	Offline = "offline"
)

// Passed tells that a change goes on although something is in its way, or
// although nobody knows whether something is.
type Passed struct {
	Address string
	// Tx is empty where there is no transaction, such as offline.
	Tx string
	// Mode says why it goes on: one of the modes above.
	Mode string
	// By and Reason are of the person who overrides, and Of is the decision
	// that they saw. In the other modes Reason may say more, as a part of a
	// sentence.
	By, Reason, Of string
	// Refused is true when the change would have been refused; otherwise it
	// would have waited.
	Refused bool
	// Report is what is in the way; nil when that is not known.
	Report *conflict.Report
}

// Unknown is a call whose outcome nobody knows.
type Unknown struct {
	Tx      string
	Action  string
	Address string
	// Object is the id of its object.
	Object string
	// Whose names the actor and what for; "this run" for a call of its own.
	Whose string
}

// Reading tells that this run reads an object, to find out how a call on it
// ended.
type Reading struct {
	Unknown
	// Found is what was seen that settles nothing yet; empty at the beginning.
	Found Found
	// After is in how long that settles it if it is still so; 0 when that is not
	// known.
	After time.Duration
}

// Found is what a read showed.
type Found string

// What a read can show.
const (
	Absent  Found = "absent"
	Present Found = "present"
	Busy    Found = "busy" // an operation on the object is in progress
)

// Settled tells how such a call ended.
type Settled struct {
	Unknown
	// Exists says whether the object is there.
	Exists bool
}

// Unreadable tells that this run cannot find out how a call ended.
type Unreadable struct {
	Unknown
	// Reason is a part of a sentence.
	Reason string
}

// HalfDone is an intent of several calls, such as a replace, that this run has
// begun and not finished.
type HalfDone struct {
	Address string
	// Done and Left are the actions that succeeded and that did not.
	Done, Left []string
}

// Crash is a provider process that died.
type Crash struct {
	Provider string
	// Trace is the panic trace that it left; may be empty.
	Trace string
}

// Summary is told after the CLI has ended.
type Summary struct {
	Waited    []Waited
	Refused   []Refused
	Uncertain []Uncertain
	// Passed are the changes that went on although something was in their way,
	// Settled the calls whose outcome this run found out by reading.
	Passed  []Passed
	Settled []Settled
	// HalfDone are the replaces that were begun and not finished.
	HalfDone []HalfDone
	// Unanswered are the changes that the CLI knows nothing good of, NotSent the
	// addresses of those that a provider was to get and had died before.
	Unanswered []Unanswered
	NotSent    []string
	// LeftBehind are the objects that were there already, and could not be
	// created for that.
	LeftBehind []LeftBehind
	Crashes    []Crash
	// Peers is how many other sessions were open meanwhile, whatever cloud
	// they work on.
	Peers int
	// InWay are those that a change of this run waited for or was refused
	// because of.
	InWay []string
	Host  string
	// Embedded is true when the coordinator serves this machine only.
	Embedded bool
	// Lost is true when the coordinator could not be told of the end.
	Lost bool
	// Silence is for how long the coordinator did not answer at most; 0 when that
	// was not worth a line.
	Silence time.Duration
	// Brief leaves the line about the peers out.
	Brief bool
}

// View shows events. Its methods may be called concurrently.
type View interface {
	Waiting(Waiting)
	Admitted(Admitted)
	Refused(Refused)
	Passed(Passed)
	Reading(Reading)
	Settled(Settled)
	Unreadable(Unreadable)
	Progress(Progress)
	Forecast(Forecast)
	Problem(Problem)
	Summary(Summary)
}
