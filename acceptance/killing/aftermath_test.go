// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"slices"
	"strings"
	"testing"
)

func TestExitStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   Kind
		moment Moment
		status int
		may    bool
	}{
		{Interrupt, InFlight, 1, true},
		{Interrupt, InFlight, 130, false},
		{Interrupt, Starting, 130, true},
		{Interrupt, InFlight, 78, false},
		{Terminate, Planning, 143, true},
		{Terminate, Planning, 130, false},
		{Hangup, InFlight, 129, false},
		{Quit, InFlight, 2, true},
		{Pipe, Asking, 141, true},
		{CtrlZ, InFlight, 0, true},
		{CtrlZ, Starting, 148, false},
	} {
		may, all := Round{Kind: c.kind, Moment: c.moment}.mayExit()
		if got := slices.Contains(may, c.status); got != c.may || all {
			t.Errorf("%s, %s: status %d may be: %v, any: %v", c.kind, c.moment, c.status, got, all)
		}
	}
	for _, kind := range append(Kills(), Abort, Close) {
		if _, all := (Round{Kind: kind}).mayExit(); !all {
			t.Errorf("%s: not any status", kind)
		}
	}
}

func TestHeldJudge(t *testing.T) {
	t.Parallel()
	limit := int((lease + resumeLimit).Seconds())
	open := told("t1", "anna", "left", "anna1", 1, 0, 0)
	waited := told("t2", "anna", "left", "anna1", 1, 0, 12)
	late := told("t3", "anna", "left", "anna1", 1, 0, 12+limit)
	open.ended, waited.started, late.started = call{}.ended, call{}.started, call{}.started
	unknown := *open
	unknown.uncertain = true
	for _, c := range []struct {
		want string
		call *call
	}{
		{"", told("t", "anna", "left", "anna1", 1, 0, 99)},
		{"t1 (simcloud_subnet.anna1 of anna) has not ended", open},
		{"", &unknown},
		{"", waited},
		{"and never sent", late},
	} {
		p := &play{round: Round{Kind: Interrupt, Victim: "anna"}, killed: at(10)}
		p.judgeHeld([]*call{c.call})
		got := strings.Join(p.result.Broken, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("want %q, found %q", c.want, got)
		}
	}
}

func TestEachKindIsDrawnAtEachOfItsMoments(t *testing.T) {
	t.Parallel()
	seen := make(map[Kind]map[Moment]bool)
	for n := range 200 * len(Kinds()) {
		r := Draw(3, n)
		if seen[r.Kind] == nil {
			seen[r.Kind] = make(map[Moment]bool)
		}
		seen[r.Kind][r.Moment] = true
		if r.Gap < shortestGap || r.Gap > longestGap || !r.Stdout && !r.Stderr {
			t.Errorf("%v: gap %v, streams %v %v", r, r.Gap, r.Stdout, r.Stderr)
		}
	}
	for _, kind := range Kinds() {
		for _, moment := range kind.moments() {
			if !seen[kind][moment] {
				t.Errorf("%s is never drawn for %s", moment, kind)
			}
		}
	}
}
