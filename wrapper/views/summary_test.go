// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
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
		{
			Summary{Waited: []Waited{{Address: "a.b", For: 5 * time.Second, Holders: parties("s6", "s1", "s5")}}},
			[]string{"a.b waited 5s for s6, s1 and s5"},
		},
		{
			Summary{Waited: []Waited{{Address: "a.b", For: 5 * time.Second, Holders: parties("s6", "s1", "s5", "s2", "s4", "s3")}}},
			[]string{"a.b waited 5s for s6, s1, s5, s2 and 2 more"},
		},
		{Summary{Waited: []Waited{
			{Address: "a.b", For: 40 * time.Millisecond, Holders: parties("base")},
			{Address: "a.c", For: 2 * time.Second, Holders: parties("base")},
			{Address: "a.d", For: 999 * time.Millisecond, Holders: parties("base", "carol")},
		}}, []string{"a.c waited 2s for base", "2 changes waited less than a second for base and carol"}},
		{
			Summary{Waited: []Waited{{Address: "a.b", For: 300 * time.Millisecond, Holders: parties("base"), Refused: true}}},
			[]string{"a.b waited less than a second for base and gave up"},
		},
		{
			Summary{Refused: []Refused{{Address: "a.b", Report: &refused, OwnState: []string{"nic.n1"}}}},
			[]string{"a.b was refused because of this state's own nic.n1 (tfweaver why t12)"},
		},
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

func TestAPlanThatCannotBeMadeHasAWayOut(t *testing.T) {
	t.Parallel()
	r := refusal()
	r.Decision, r.ID, r.Requester.State = conflict.Reject, r.Address, "mine"
	c := &r.Conflicts[0]
	c.Class, c.Fact = "dependency", &conflict.Fact{What: "references /net/n1", State: "mine", Object: &conflict.Resource{CloudID: "/net/n1", Address: "nic.n1"}}
	var out bytes.Buffer
	NewHuman(NewPrinter(&out), Style{}).Forecast(Forecast{Changes: 1, Covered: 1, Reports: []conflict.Report{r}})
	for _, text := range []string{"-replace=nic.n1", "Nothing was sent"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the box lacks %q:\n%s", text, out.String())
		}
	}
	if strings.Contains(out.String(), "tfweaver why") || strings.Contains(out.String(), "alice") {
		t.Errorf("the box says\n%s", out.String())
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

func TestIDsAreShortInTables(t *testing.T) {
	t.Parallel()
	const group = "simcloud:https://127.0.0.1:8080/subscriptions/0001/resourcegroups/network"
	for id, want := range map[string]string{
		"/net/vnet/~slot": "/net/vnet/~slot",
		group + "/virtualnetworks/shared/~slot:write": "…/virtualnetworks/shared/~slot:write",
		group: "…/resourcegroups/network",
		group + "/virtualnetworks/shared/subnets/a": "…/subnets/a",
		strings.Repeat("x", 60):                     strings.Repeat("x", 60),
	} {
		if got := short(id); got != want {
			t.Errorf("%s is shown as %s, want %s", id, got, want)
		}
		locks := LocksText(coordinator.Status{Locks: []coordinator.LockStatus{{Node: graph.NodeID(id), Mode: "X", Tx: "t1"}}})
		if !strings.Contains(locks, "\n"+want+"  X") {
			t.Errorf("the lock of %s is shown as\n%s", id, locks)
		}
	}
}

func TestHowATransactionStandsIsTold(t *testing.T) {
	t.Parallel()
	r := report("")
	r.Conflicts, r.Wait, r.Status, r.Age = nil, nil, string(admission.Withdrawn), 61
	text := WhyText(r, admission.Withdrawn)
	for _, want := range []string{"t12: create of simcloud_subnet.b is withdrawn", "by bob", "1 min ago"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// TestWhyIsForPeople: no state of the protocol's own, and no reason twice.
func TestWhyIsForPeople(t *testing.T) {
	t.Parallel()
	r := report(conflict.Reject)
	r.Conflicts = append(r.Conflicts, r.Conflicts...)
	r.Conflicts[0].Holder.State, r.Conflicts[0].Holder.Result = conflict.Ended, string(admission.Operational)
	text := WhyText(r, admission.Operational)
	if strings.Contains(text, "operational") || !strings.Contains(text, "create of simcloud_subnet.b has succeeded") {
		t.Errorf("in the protocol's words:\n%s", text)
	}
	if n := strings.Count(text, r.Conflicts[0].Resource.CloudID+"\n"); n != 1 {
		t.Errorf("one reason stands there %d times:\n%s", n, text)
	}
}

// TestAForecastThatDoesNotWait tells what would make it wait, and how to pass it.
func TestAForecastThatDoesNotWait(t *testing.T) {
	t.Parallel()
	r := report(conflict.Reject)
	r.Address = `simcloud_subnet.b["x y"]`
	r.ID, r.Wait = r.Address, nil
	for noWait, says := range map[bool]string{true: "with a -weaver-wait that is not 0", false: "-weaver-policy=queue"} {
		var out bytes.Buffer
		NewHuman(NewPrinter(&out), Style{Width: 400}).Forecast(Forecast{Changes: 1, Covered: 1, Reports: []conflict.Report{r}, NoWait: noWait})
		for _, want := range []string{says, `-weaver-override='simcloud_subnet.b["x y"]' -weaver-reason=TEXT`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("not waiting %v: the text lacks %q:\n%s", noWait, want, &out)
			}
		}
	}
}

// TestCommandsHaveOneDash wherever they are shown, so that they are alike.
func TestCommandsHaveOneDash(t *testing.T) {
	t.Parallel()
	r := report(conflict.Wait)
	r.Conflicts[0].Holder.State = conflict.Uncertain
	r.Actions = []conflict.Advice{{Verb: "verify", Command: "tfweaver resolve t11 --reason TEXT --exists"}}
	for _, text := range []string{OneLine(r), WhyText(r, admission.Queued)} {
		if strings.Contains(text, " --") || strings.Contains(text, "`--") || !strings.Contains(text, "tfweaver resolve t11 -reason TEXT -exists") {
			t.Errorf("dashes:\n%s", text)
		}
	}
}
