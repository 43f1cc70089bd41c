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
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/version"
)

const second = int64(time.Second)

// troubled is a coordinator with a killed run, a replace under way, and a quota
// that is nearly used up.
func troubled() coordinator.Status {
	plan := admission.Request{Session: "bob-1", Action: admission.Reserve, Calls: make([]admission.Planned, 3)}
	return coordinator.Status{
		Version: "0.1.0", Host: "weaver", Store: "/j", Epoch: 1, Index: 7, Now: 1000 * second,
		Sessions: []coordinator.SessionStatus{
			{Session: admission.Session{ID: "alice-7", Actor: "alice", Phase: "applying", OpenedAt: 900 * second, Expires: 1010 * second, DeadAt: 990 * second}, Dead: true},
			{Session: admission.Session{ID: "bob-1", Actor: "bob", Phase: "applying", OpenedAt: 950 * second, Expires: 1020 * second}, Claimed: true},
			{Session: admission.Session{ID: "kim-2", Actor: "kim", Phase: "planning", OpenedAt: 999 * second, Expires: 1029 * second, Labels: map[string]string{"claimed": "true"}}},
		},
		Transactions: []coordinator.TxStatus{
			{
				Tx:    admission.Tx{ID: "t9", Status: admission.Uncertain, StartedAt: 940 * second, Request: admission.Request{Session: "alice-7", Address: "simcloud_virtual_machine.a", Action: admission.Create}},
				Actor: "alice", Unsettled: &coordinator.Unsettled{Dead: true, After: 7 * time.Second},
			},
			{Tx: admission.Tx{ID: "t10", Status: admission.Admitted, AdmittedAt: 960 * second, Request: plan}, Actor: "bob"},
			{
				Tx:    admission.Tx{ID: "t11", Status: admission.Uncertain, StartedAt: 970 * second, Request: admission.Request{Session: "gone-1", Self: "/net/b", Action: admission.Delete}},
				Actor: "carol", Unsettled: &coordinator.Unsettled{After: -1},
			},
			{Tx: admission.Tx{
				ID: "t12", Status: admission.Actioning, StartedAt: 998 * second, Request: admission.Request{Session: "bob-1", Address: "s.a", Action: admission.Update},
				Passed: &admission.Pass{Mode: "observe"},
			}, Actor: "bob"},
		},
		Claims: []coordinator.ClaimStatus{{
			Claim: admission.Claim{ID: "t13", Plan: "t10", Since: 980 * second, Locks: lock.Plan{{Node: "/vm/a", Mode: mode.X}, {Node: "/vm", Mode: mode.IX}}, Calls: []admission.CallID{"delete vm.a", "create vm.a", "update vm.b"}},
			Actor: "bob", Objective: "bigger machines",
		}},
		Buckets: []coordinator.BucketStatus{
			{Bucket: "/sub#vcpu", Node: "/sub", Name: "vcpu", Limit: escrow.At(20), Used: escrow.At(8), Reserved: 12, Available: escrow.At(0), ReadAt: 995 * second, Shares: []coordinator.BucketShare{
				{Tx: "t10", Actor: "bob", Reserved: 8}, {Tx: "t9", Actor: "alice", Reserved: 4, Uncertain: true}, {Tx: "t14", Actor: "bob", Freeing: 1},
			}},
			{Bucket: "/net#addresses", Node: "/net", Name: "addresses", Limit: escrow.At(5), Used: escrow.At(1), Available: escrow.At(4), ReadAt: 900 * second},
			{Bucket: "/disk#slots", Node: "/disk", Name: "slots", Reserved: 1, Freeing: 2},
		},
	}
}

func TestStatusOfAKilledRun(t *testing.T) {
	t.Parallel()
	got := StatusText(troubled())
	golden(t, "status-troubled.txt", strings.ReplaceAll(got, "tfweaver "+version.Version, "tfweaver VERSION"))
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "alice-7") && strings.Contains(line, "applying") {
			t.Errorf("a dead run applies nothing: %s", line)
		}
	}
	if strings.Contains(got, "addresses") {
		t.Error("capacity that nobody asks for is listed")
	}
}

// TestLocksOfClaims: what is held between the calls of a replace is shown, and
// whose outcome is unknown.
func TestLocksOfClaims(t *testing.T) {
	t.Parallel()
	s := troubled()
	s.Locks = []coordinator.LockStatus{{Node: "/vm/b", Mode: "X", Tx: "t9", Session: "alice-7", Actor: "alice", Address: "simcloud_virtual_machine.a", Since: 940 * second}}
	golden(t, "locks-claims.txt", LocksText(s))
}

func TestReportText(t *testing.T) {
	t.Parallel()
	by := func(actor, objective string) *coordinator.ReportParty {
		return &coordinator.ReportParty{Session: admission.SessionID(actor + "-1"), Actor: actor, Objective: objective}
	}
	r := coordinator.Report{
		Host: "weaver", Store: "/j", Now: 8000 * second, Since: 800 * second, Transactions: 41,
		Delayed: 1, Refused: 2, WouldWait: 1, WouldRefuse: 1, Passed: 1, Errors: 1, Omitted: 1,
		Items: []coordinator.ReportItem{
			{Tx: "t3", What: coordinator.Delayed, Address: "simcloud_subnet.b", Action: admission.Create, By: *by("bob", ""), Waited: 12 * second, SubmittedAt: 1000 * second, Reasons: []coordinator.Reported{
				{Blocker: admission.Blocker{Node: "/net"}, By: by("alice", "shop network")}, {Blocker: admission.Blocker{Node: "/net/b"}, By: by("alice", "shop network")},
			}},
			{Tx: "t5", What: coordinator.Refused, Action: admission.Reserve, By: *by("kim", ""), SubmittedAt: 2000 * second, Reasons: []coordinator.Reported{
				{Blocker: admission.Blocker{Relation: lock.Capacity, Capacity: &admission.Shortage{Bucket: "/sub#vcpu", Limit: 20, Used: 4, Reserved: 12, Asked: 12}}, By: by("bob", "x")},
			}},
			{Tx: "t6", What: coordinator.Refused, Address: "a.b", Action: admission.Update, By: *by("kim", ""), SubmittedAt: 3000 * second, Reasons: []coordinator.Reported{
				{Blocker: admission.Blocker{Node: "/net/c", Guard: admission.Present, Fact: "absent", Replan: true}, Address: "simcloud_subnet.c"},
			}},
			{Tx: "t7", What: coordinator.WouldWait, Address: "c.d", Action: admission.Delete, By: *by("lee", ""), SubmittedAt: 4000 * second, ProviderError: true, Passed: &admission.Pass{Mode: "observe"}, Reasons: []coordinator.Reported{
				{Blocker: admission.Blocker{Node: graph.NodeID("/net/d")}, By: by("bob", "")},
			}},
			{Tx: "t8", What: coordinator.WouldRefuse, Address: "e.f", Action: admission.Create, By: *by("lee", ""), SubmittedAt: 5000 * second, Passed: &admission.Pass{Mode: "override", By: "lee", Reason: "agreed\x1b with bob", Of: "t6"}, Reasons: []coordinator.Reported{
				{Blocker: admission.Blocker{Dead: true}},
			}},
			{Tx: "t9", What: coordinator.Passed, Address: "g.h", Action: admission.Update, By: *by("lee", ""), SubmittedAt: 6000 * second, Passed: &admission.Pass{Mode: "wait", Reason: "it waited long"}},
		},
	}
	golden(t, "report.txt", ReportText(r))
	quiet := coordinator.Report{Host: "weaver", Now: 90 * second, Since: 30 * second, Transactions: 1}
	if got := ReportText(quiet); got != "1 change within 1m0s on weaver: nothing was in the way of any.\n" {
		t.Errorf("got %q", got)
	}
	if got := ReportText(coordinator.Report{Host: "weaver"}); got != "Nothing has been coordinated on weaver yet.\n" {
		t.Errorf("got %q", got)
	}
}

func TestWhatSettles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		action admission.Action
		after  time.Duration
		says   string
		never  string
	}{
		{admission.Create, -1, "when it is there in a final state.", "gone"},
		{admission.Create, 0, "or gone.", "later"},
		{admission.Create, time.Minute, "or gone in 1m0s or later", ""},
		{admission.Delete, 0, "or gone.", "later"},
		{admission.Update, time.Minute, "reads it, in 1m0s or later", ""},
	} {
		got := settledBy(tt.action, &coordinator.Unsettled{After: tt.after})
		if !strings.Contains(got, tt.says) || (tt.never != "" && strings.Contains(got, tt.never)) {
			t.Errorf("%s in %s: %q", tt.action, tt.after, got)
		}
	}
	if got := settledBy(admission.Delete, &coordinator.Unsettled{After: -1}); got != "" {
		t.Errorf("nothing settles that, but %q", got)
	}
}

// TestForecastOfALenientRun: it shows what a stricter mode would do.
func TestForecastOfALenientRun(t *testing.T) {
	t.Parallel()
	f := Forecast{Changes: 1, Covered: 1, Passing: []conflict.Report{refusal()}}
	if f.Stops() || f.Quiet() {
		t.Errorf("stops: %v, quiet: %v", f.Stops(), f.Quiet())
	}
	var text, lines bytes.Buffer
	people := NewHuman(NewPrinter(&text), Style{})
	people.Forecast(f)
	if got := text.String(); !strings.Contains(got, "Note: 1 change of the plan would be refused in the mode") || strings.Contains(got, "Error") {
		t.Errorf("got %q", got)
	}
	NewJSON(NewPrinter(&lines), people, time.Now).Forecast(f)
	if got := lines.String(); !strings.Contains(got, `"type":"weaver_passed"`) || !strings.Contains(got, `"decision":"re`) || strings.Contains(got, "weaver_conflict") {
		t.Errorf("got %q", got)
	}
}
