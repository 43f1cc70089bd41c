// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

func parties(names ...string) []Party {
	var list []Party
	for _, n := range names {
		list = append(list, Party{Session: n + "-1", Name: n})
	}
	return list
}

func TestTheSummaryNamesAllThatWereInTheWay(t *testing.T) {
	t.Parallel()
	refused := refusal()
	for _, tt := range []struct {
		summary Summary
		want    []string
	}{
		{Summary{Waited: []Waited{{Address: "a.b", For: 5 * time.Second, Holders: parties("s6", "s1", "s5")}}},
			[]string{"a.b waited 5s for s6, s1 and s5"}},
		{Summary{Waited: []Waited{{Address: "a.b", For: 5 * time.Second, Holders: parties("s6", "s1", "s5", "s2", "s4", "s3")}}},
			[]string{"a.b waited 5s for s6, s1, s5, s2 and 2 more"}},
		{Summary{Waited: []Waited{
			{Address: "a.b", For: 40 * time.Millisecond, Holders: parties("base")},
			{Address: "a.c", For: 2 * time.Second, Holders: parties("base")},
			{Address: "a.d", For: 999 * time.Millisecond, Holders: parties("base", "carol")},
		}}, []string{"a.c waited 2s for base", "2 changes waited less than a second for base and carol"}},
		{Summary{Waited: []Waited{{Address: "a.b", For: 300 * time.Millisecond, Holders: parties("base"), Refused: true}}},
			[]string{"a.b waited less than a second for base and gave up"}},
		{Summary{Refused: []Refused{{Address: "a.b", Report: &refused, OwnState: []string{"nic.n1"}}}},
			[]string{"a.b was refused because of this state's own nic.n1 (tfweaver why t12)"}},
	} {
		if got := summaryLines(tt.summary); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestAnUncertainHolderStaysNamed(t *testing.T) {
	t.Parallel()
	r := report(conflict.Wait)
	line := stillWaiting(Waiting{Address: r.Address, Report: r, Waited: 10 * time.Second})
	if strings.Contains(line, "resolve") {
		t.Errorf("a running holder is to be resolved: %s", line)
	}
	r.Conflicts[0].Holder.State = conflict.Uncertain
	line = stillWaiting(Waiting{Address: r.Address, Report: r, Waited: 10 * time.Second})
	for _, text := range []string{"outcome of t11 is unknown", "`tfweaver resolve t11 -reason TEXT -exists` (or -gone)", "alice", "10s elapsed"} {
		if !strings.Contains(line, text) {
			t.Errorf("the line lacks %q: %s", text, line)
		}
	}
}

func TestTheOwnStateHasAWayOut(t *testing.T) {
	t.Parallel()
	f := Forecast{Changes: 1, Covered: 1, Reports: []conflict.Report{refusal()}, OwnState: []string{"nic.n1"}}
	f.Reports[0].Decision = conflict.Reject
	var out bytes.Buffer
	NewHuman(NewPrinter(&out), Style{}).Forecast(f)
	if text := out.String(); !strings.Contains(text, "this state's own nic.n1") || strings.Contains(text, "agree with") {
		t.Errorf("the box says\n%s", text)
	}
}

func TestAddressesAreNotCut(t *testing.T) {
	t.Parallel()
	long := `module.networking["eu"].simcloud_subnet_network_security_group_association.frontend["application"]`
	r := report(conflict.Wait)
	r.Address = long
	for _, id := range []string{"t12", long} {
		r.ID = id
		sentence, _ := Told(r)
		if !strings.HasPrefix(sentence, long+" waits: ") {
			t.Errorf("id %s: %s", id, sentence)
		}
	}
	r.ID = "t12"
	var out bytes.Buffer
	NewHuman(NewPrinter(&out), Style{Width: 60}).Waiting(Waiting{Address: long, Report: r})
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && strings.Contains(line, " ") {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	if !strings.Contains(out.String(), long) || !strings.Contains(out.String(), "`tfweaver why t12`") {
		t.Errorf("printed %q", out.String())
	}
}
