// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"encoding/json"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// JSON shows events as lines among those of "terraform -json". Its lines have
// the same four fields beginning with @, and types of their own.
type JSON struct {
	out *Printer
	// people gets what has no place on a stream for programs.
	people *Human
	now    func() time.Time
}

var _ View = (*JSON)(nil)

// NewJSON returns a view that writes to out, usually standard output, and the
// summary to people.
func NewJSON(out *Printer, people *Human, now func() time.Time) *JSON {
	return &JSON{out: out, people: people, now: now}
}

// line is one line of output.
type line struct {
	Level     string           `json:"@level"`
	Message   string           `json:"@message"`
	Module    string           `json:"@module"`
	Timestamp string           `json:"@timestamp"`
	Address   string           `json:"address,omitempty"`
	Waited    *float64         `json:"waited,omitempty"` // seconds
	Tx        string           `json:"tx,omitempty"`
	Report    *conflict.Report `json:"report,omitempty"`
	Problem   *diagnostic      `json:"diagnostic,omitempty"`
	// Of the lines about calls whose outcome was not known.
	Action string `json:"action,omitempty"`
	Object string `json:"object,omitempty"`
	Exists *bool  `json:"exists,omitempty"`
	// What a read showed, and in how many seconds that would count.
	Found string   `json:"found,omitempty"`
	After *float64 `json:"after,omitempty"`
	// Of the lines about changes that went on.
	Mode     string `json:"mode,omitempty"`
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Of       string `json:"of,omitempty"`
	Decision string `json:"decision,omitempty"`
	// Of the lines about progress; Elapsed is in seconds.
	Elapsed *float64 `json:"elapsed,omitempty"`
	Read    *int     `json:"read,omitempty"`
	Planned *int     `json:"planned,omitempty"`
	Type    string   `json:"type"`
}

// diagnostic is a message in the form that Terraform uses.
type diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
}

func (j *JSON) print(l line) {
	l.Module = "tfweaver"
	l.Timestamp = j.now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	text, err := json.Marshal(l)
	if err != nil {
		return // the line holds nothing that JSON cannot express
	}
	j.out.Print(string(text) + "\n")
}

func secondsOf(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// Waiting prints a weaver_wait line.
func (j *JSON) Waiting(w Waiting) {
	j.print(line{
		Level: "info", Type: "weaver_wait", Address: w.Address, Waited: secondsOf(w.Waited),
		Tx: w.Report.ID, Report: &w.Report, Message: OneLine(w.Report),
	})
}

// Admitted prints a weaver_admitted line.
func (j *JSON) Admitted(a Admitted) {
	j.print(line{
		Level: "info", Type: "weaver_admitted", Address: a.Address, Waited: secondsOf(a.Waited), Tx: a.Tx,
		Message: goingOn(a),
	})
}

// Refused prints a weaver_conflict line.
func (j *JSON) Refused(r Refused) {
	l := line{Level: "error", Type: "weaver_conflict", Address: r.Address, Message: r.Address + ": " + r.Reason}
	if r.Report != nil {
		l.Report, l.Tx = r.Report, r.Report.ID
	}
	if r.Report != nil && r.Reason == "" {
		l.Message = OneLine(*r.Report)
	}
	j.print(l)
}

// Passed prints a weaver_passed line; decision is what would have become of the
// change: wait or reject.
func (j *JSON) Passed(p Passed) {
	l := line{
		Level: "warn", Type: "weaver_passed", Address: p.Address, Tx: p.Tx, Report: p.Report,
		Mode: p.Mode, By: p.By, Reason: p.Reason, Of: p.Of, Message: passed(p), Decision: string(conflict.Wait),
	}
	if p.Refused {
		l.Decision = string(conflict.Reject)
	}
	if p.Mode == Offline {
		l.Decision = ""
	}
	if p.Mode == Observing {
		l.Level = "info"
	}
	j.print(l)
}

func unknownLine(level, name string, u Unknown, message string) line {
	return line{Level: level, Type: name, Address: u.Address, Tx: u.Tx, Action: u.Action, Object: u.Object, By: u.Whose, Message: message}
}

// Reading prints a weaver_reading line.
func (j *JSON) Reading(r Reading) {
	l := unknownLine("info", "weaver_reading", r.Unknown, reading(r))
	l.Found = string(r.Found)
	if r.After > 0 {
		l.After = secondsOf(r.After)
	}
	j.print(l)
}

// Settled prints a weaver_settled line.
func (j *JSON) Settled(s Settled) {
	l := unknownLine("info", "weaver_settled", s.Unknown, settled(s))
	l.Exists = &s.Exists
	j.print(l)
}

// Unreadable prints a weaver_unreadable line.
func (j *JSON) Unreadable(u Unreadable) {
	l := unknownLine("warn", "weaver_unreadable", u.Unknown, unreadable(u))
	l.Reason = u.Reason
	j.print(l)
}

// Forecast prints a line for each change that would wait or be refused.
func (j *JSON) Forecast(f Forecast) {
	for _, r := range f.Reports {
		l := line{Level: "info", Type: "weaver_wait", Address: r.Address, Report: &r, Message: OneLine(r)}
		if r.Decision != conflict.Wait {
			l.Level, l.Type = "error", "weaver_conflict"
		}
		j.print(l)
	}
	for _, r := range f.Passing {
		j.print(line{
			Level: "info", Type: "weaver_passed", Address: r.Address, Report: &r, Decision: string(r.Decision), Message: OneLine(r),
		})
	}
	if len(f.Unforeseen) > 0 {
		j.Problem(Problem{Warning: true, Summary: "Not every change can be foreseen", Detail: unforeseen(f)})
	}
}

// Problem prints a diagnostic line, as Terraform does for its own.
func (j *JSON) Problem(p Problem) {
	level, word := "error", "Error: "
	if p.Warning {
		level, word = "warn", "Warning: "
	}
	j.print(line{
		Level: level, Type: "diagnostic", Message: word + p.Summary,
		Problem: &diagnostic{Severity: severity(p), Summary: p.Summary, Detail: p.Detail},
	})
}

func severity(p Problem) string {
	if p.Warning {
		return "warning"
	}
	return "error"
}

// Summary is for people.
func (j *JSON) Summary(s Summary) { j.people.Summary(s) }
