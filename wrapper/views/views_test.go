// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/version"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func report(decision conflict.Decision) conflict.Report {
	return conflict.Report{
		Schema: conflict.Schema, ID: "t12", Decision: decision, Address: "simcloud_subnet.b", Action: "create",
		Requester: conflict.Party{Session: "bob-1", Intent: "more room", Actor: "bob"},
		Conflicts: []conflict.Conflict{{
			Resource: conflict.Resource{CloudID: "/net/vnet-1/~slot", Type: "simcloud_virtual_network"},
			Relation: "rule", Class: "in_flight", ModeHeld: "X", ModeWanted: "X", RuleID: "simcloud/subnet#slot",
			Holder: &conflict.Holder{
				Session: "alice-7", Tx: "t11", Address: "simcloud_subnet.a", Action: "create", Objective: "add app subnet",
				Actor: "alice", State: conflict.Running, HeldFor: 40,
			},
		}},
		Wait: &conflict.WaitInfo{Position: 1, Ahead: 1},
	}
}

func refusal() conflict.Report {
	r := report(conflict.Replan)
	r.Conflicts[0].Holder.State = conflict.Ended
	r.Conflicts[0].Fact = &conflict.Fact{What: "absent", Source: "coordinator"}
	r.Wait = nil
	return r
}

// shortReport is a plan that does not fit, beside a replace that was left half
// done.
func shortReport() conflict.Report {
	r := report(conflict.Reject)
	r.Address, r.Action, r.Wait = "", string(admission.Reserve), nil
	half := r.Conflicts[0]
	r.Conflicts[0].Capacity = &conflict.Capacity{Bucket: "addresses", Limit: 20, Used: 7, Reserved: 12, Theirs: 4, Asked: 2, Hopeless: true}
	r.Conflicts[0].Relation, r.Conflicts[0].ModeWanted = "capacity", ""
	r.Conflicts[0].Fact = &conflict.Fact{What: "use", Age: 4, Source: "read"}
	holder := *half.Holder
	holder.Claim, holder.Dead, holder.State, holder.Result = true, true, conflict.Ended, admission.HalfReplaced
	half.Holder, half.Exceeded, half.Failed = &holder, true, "create a.b"
	r.Conflicts = append(r.Conflicts, half)
	return r
}

// show plays every event to a view.
func show(v View) {
	v.Problem(Problem{Warning: true, Summary: "Mind this", Detail: "First line.\n\nThird line."})
	v.Forecast(Forecast{Changes: 3, Covered: 2, Uncovered: []string{"other_thing"}, Reports: []conflict.Report{report(conflict.Wait)}})
	v.Forecast(Forecast{Changes: 1, Covered: 1})
	v.Forecast(Forecast{Changes: 2, Covered: 2, Unforeseen: []Unforeseen{{"a.b", "the realm is not known yet"}, {"a.c", "no more"}}})
	r := report(conflict.Wait)
	v.Waiting(Waiting{Address: r.Address, Report: r})
	v.Waiting(Waiting{Address: r.Address, Report: r, Waited: 10 * time.Second})
	v.Admitted(Admitted{Address: r.Address, Tx: r.ID, Waited: 12 * time.Second})
	refused := refusal()
	v.Refused(Refused{Address: refused.Address, Report: &refused})
	v.Forecast(Forecast{Changes: 1, Covered: 1, Reports: []conflict.Report{refused}})
	v.Passed(Passed{Address: r.Address, Tx: r.ID, Mode: Overridden, By: "bob", Reason: "alice is on leave", Of: "t9", Report: &r})
	v.Passed(Passed{Address: r.Address, Tx: r.ID, Mode: Observing, Report: &r})
	v.Passed(Passed{Address: r.Address, Tx: r.ID, Mode: Observing, Refused: true, Report: &refused})
	v.Passed(Passed{Address: r.Address, Tx: r.ID, Mode: WaitOnly, Reason: "it waited as long as -weaver-wait allows", Report: &r})
	v.Passed(Passed{Address: r.Address, Mode: Offline, Reason: "the coordinator cannot be reached"})
	lost := Unknown{Tx: "t7", Action: "create", Address: "simcloud_subnet.a", Object: "/net/a", Whose: `alice ("add app subnet")`}
	v.Reading(Reading{Unknown: lost})
	v.Settled(Settled{Unknown: lost, Exists: true})
	v.Unreadable(Unreadable{Unknown: Unknown{Tx: "t8"}, Reason: "its id is not known, because the cloud chooses it"})
	v.Problem(Problem{Summary: "No way"})
	v.Summary(Summary{
		Waited: []Waited{
			{Address: r.Address, For: 12 * time.Second, Holders: Foreign(r)},
			{Address: "x.y", For: 3 * time.Second, Refused: true},
			{Address: "x.w", For: 4 * time.Second, Refused: true},
		},
		Refused:   []Refused{{Address: "x.y", Report: &refused}, {Address: "x.z", Reason: "the coordinator is gone"}},
		Uncertain: []Uncertain{{Address: "x.u", Tx: "t13"}, {Address: "x.v", Tx: "t14", GaveUp: true}},
		Passed: []Passed{
			{Address: "x.o", Mode: Overridden, By: "bob", Reason: "alice is on leave", Of: "t9", Report: &r},
			{Address: "x.p", Mode: Observing},
			{Address: "x.q", Mode: Observing},
			{Address: "x.r", Mode: Observing, Refused: true},
			{Address: "x.s", Mode: WaitOnly},
			{Address: "x.t", Mode: Offline},
		},
		Settled:  []Settled{{Unknown: lost}},
		HalfDone: []HalfDone{{Address: "x.h", Done: []string{"delete"}, Left: []string{"create"}}},
		Crashes:  []Crash{{Provider: "registry.terraform.io/tfweaver/simcloud", Trace: "panic: oh"}},
		Peers:    2, Host: "desk", Embedded: true,
	})
}

func TestHuman(t *testing.T) {
	t.Parallel()
	for name, style := range map[string]Style{"human": {}, "human-colour": {Colour: true}, "human-automation": {Automation: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			show(NewHuman(NewPrinter(&out), style))
			golden(t, name+".txt", out.String())
		})
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var out, people bytes.Buffer
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	show(NewJSON(NewPrinter(&out), NewHuman(NewPrinter(&people), Style{}), func() time.Time { return at }))
	golden(t, "json.jsonl", out.String())
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, name := range []string{"@level", "@message", "@module", "@timestamp", "type"} {
			if fields[name] == nil {
				t.Errorf("line without %s: %s", name, line)
			}
		}
		if message, _ := fields["@message"].(string); strings.Contains(message, "\n") {
			t.Errorf("a message of several lines: %q", message)
		}
	}
	if !strings.Contains(people.String(), "waited 12s") {
		t.Errorf("the summary for people is %q", people.String())
	}
}

func TestSummaryOfAQuietRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		summary Summary
		want    string
	}{
		{Summary{Brief: true}, ""},
		{Summary{Host: "desk", Lost: true}, "Coordinated on desk until the coordinator was lost.\n"},
		{Summary{Host: "desk", Embedded: true}, "Coordinated on desk (this machine only); no other session was open.\n"},
		{Summary{Host: "hub", Peers: 1}, "Coordinated with 1 other session on hub; none was in the way.\n"},
		{Summary{Host: "hub", Peers: 1, InWay: []string{"alice-7"}}, "Coordinated with 1 other session on hub.\n"},
		{Summary{Host: "hub", Peers: 9, InWay: []string{"a", "b"}}, "Coordinated with 9 other sessions on hub; 2 were in the way.\n"},
	} {
		var out bytes.Buffer
		NewHuman(NewPrinter(&out), Style{}).Summary(tt.summary)
		if out.String() != tt.want {
			t.Errorf("got %q, want %q", out.String(), tt.want)
		}
	}
}

func TestForecastStops(t *testing.T) {
	t.Parallel()
	if (Forecast{Reports: []conflict.Report{report(conflict.Wait)}}).Stops() {
		t.Error("a wait stops the plan")
	}
	if !(Forecast{Reports: []conflict.Report{report(conflict.Wait), refusal()}}).Stops() {
		t.Error("a refusal does not stop the plan")
	}
}

func TestHoldersNamesOthersOnce(t *testing.T) {
	t.Parallel()
	r := report(conflict.Wait)
	r.Conflicts = append(r.Conflicts, r.Conflicts[0],
		conflict.Conflict{Holder: &conflict.Holder{Session: "bob-1", Actor: "bob"}},
		conflict.Conflict{Holder: &conflict.Holder{Session: "s-9", Redacted: true}}, conflict.Conflict{})
	if got, want := Holders(r), `alice ("add app subnet") and another session`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := NewLines(NewPrinter(&out), func(line []byte) bool { return bytes.HasPrefix(line, []byte("drop")) })
	for _, part := range []string{"on", "e\ndrop me\ntw", "o\nthree"} {
		if n, err := lines.Write([]byte(part)); err != nil || n != len(part) {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if got, want := out.String(), "one\ntwo\n"; got != want {
		t.Errorf("before the end: %q, want %q", got, want)
	}
	if err := lines.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "one\ntwo\nthree"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestLinesTellThatTheStreamIsGone(t *testing.T) {
	t.Parallel()
	if _, err := NewLines(NewPrinter(gone{}), nil).Write([]byte("a\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

// single fails when two writes overlap or a write is no whole line.
type single struct {
	t  *testing.T
	mu sync.Mutex
}

func (s *single) Write(p []byte) (int, error) {
	if !s.mu.TryLock() {
		s.t.Error("two writes at once")
		return len(p), nil
	}
	defer s.mu.Unlock()
	if !bytes.HasSuffix(p, []byte("\n")) {
		s.t.Errorf("no whole line: %q", p)
	}
	return len(p), nil
}

func TestOneWriterAtATime(t *testing.T) {
	t.Parallel()
	printer := NewPrinter(&single{t: t})
	lines := NewLines(printer, nil)
	view := NewJSON(printer, nil, time.Now)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			_, _ = lines.Write([]byte("terraform\nsays "))
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 100 {
				view.Admitted(Admitted{Address: "a.b"})
			}
		})
	}
	wg.Wait()
}

func TestStatusTexts(t *testing.T) {
	t.Parallel()
	second := int64(time.Second)
	s := coordinator.Status{
		Version: "0.1.0", Host: "desk", Store: "/j", Embedded: true, Epoch: 1, Index: 7, Now: 100 * second,
		Sessions: []coordinator.SessionStatus{{
			Session: admission.Session{ID: "alice-7", Actor: "alice\x1b[31m", Phase: "applying", OpenedAt: 40 * second, Expires: 120 * second},
			Intents: []admission.Intent{{Objective: "add app subnet"}},
		}},
		Transactions: []coordinator.TxStatus{
			{Tx: admission.Tx{ID: "t11", Status: admission.Actioning, StartedAt: 90 * second, Request: admission.Request{Session: "alice-7", Address: "s.a", Action: admission.Create}}},
			{Tx: admission.Tx{ID: "t12", Status: admission.Queued, SubmittedAt: 95 * second, Request: admission.Request{Session: "bob-1", Self: "/net/b", Action: admission.Delete}}, Position: 2},
		},
		Locks:    []coordinator.LockStatus{{Node: "/net/~slot", Mode: "X", Tx: "t11", Session: "alice-7", Address: "s.a", Since: 90 * second}},
		Declared: []graph.Node{{}},
	}
	golden(t, "status.txt", strings.ReplaceAll(StatusText(s), "tfweaver "+version.Version, "tfweaver VERSION"))
	golden(t, "locks.txt", LocksText(s))
	golden(t, "status-none.txt", strings.ReplaceAll(StatusText(coordinator.Status{Host: "desk"}), "tfweaver "+version.Version, "tfweaver VERSION"))
	if got := LocksText(coordinator.Status{}); got != "No lock is held.\n" {
		t.Errorf("got %q", got)
	}
	golden(t, "why.txt", WhyText(report(conflict.Wait), admission.Queued))
	golden(t, "why-plan.txt", WhyText(shortReport(), admission.Rejected))
}
