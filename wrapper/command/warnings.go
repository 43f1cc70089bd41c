// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/views"
)

// warnings puts those lines of an apply's two halves that warn where the CLI puts
// them when it does not ask for approval: what it finds before it begins comes
// once, at the beginning; what the plan has found comes after the changes, but for
// the checks, which are made again by then.
type warnings struct {
	out *views.Printer
	// early are the diagnostics that came before anything else, held the lines that
	// are to come.
	early [][]byte
	held  []string
	begun bool
}

// plan is to be called with each line of the first half. It says whether the line
// is not to be printed now.
func (w *warnings) plan(line []byte) bool {
	l := parseLine(line)
	switch {
	case !l.warns():
		w.begun = w.begun || l.Type != "version"
		return false
	case !w.begun:
		w.early = append(w.early, l.Diagnostic)
		return false
	}
	if !l.checks() {
		w.held = append(w.held, string(line))
	}
	return true
}

// applying is to be called between the halves.
func (w *warnings) applying() { w.begun = false }

// apply is plan for the second half.
func (w *warnings) apply(line []byte) bool {
	l := parseLine(line)
	said := func(d []byte) bool { return bytes.Equal(d, l.Diagnostic) }
	switch {
	case l.Type == "version":
		return false
	case !w.begun && l.warns() && slices.ContainsFunc(w.early, said):
		return true
	case l.Type == "diagnostic", l.Type == "change_summary":
		w.release()
	}
	w.begun = w.begun || !l.warns()
	return false
}

// release prints what is held: at the latest when nothing more will come.
func (w *warnings) release() {
	for _, line := range w.held {
		w.out.Print(line)
	}
	w.held = nil
}

// uiLine is what is looked at of a line of the CLI's.
type uiLine struct {
	Type       string          `json:"type"`
	Diagnostic json.RawMessage `json:"diagnostic"`
}

func parseLine(line []byte) (l uiLine) {
	if json.Unmarshal(line, &l) != nil {
		return uiLine{}
	}
	return l
}

func (l uiLine) warns() bool {
	return l.Type == "diagnostic" && l.detail().Severity == "warning"
}

// checks says whether a check block warns.
func (l uiLine) checks() bool { return strings.HasPrefix(l.detail().Snippet.Context, `check "`) }

// diagnostic is what is looked at of one.
type diagnostic struct {
	Severity string `json:"severity"`
	Snippet  struct {
		Context string `json:"context"`
	} `json:"snippet"`
}

func (l uiLine) detail() (d diagnostic) {
	_ = json.Unmarshal(l.Diagnostic, &d) // what is no diagnostic does not warn
	return d
}
