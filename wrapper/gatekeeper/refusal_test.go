// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// text is a refusal as the user reads it.
func text(t *testing.T, err error) string {
	t.Helper()
	var refusal *intercept.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("error %v is no refusal", err)
	}
	return refusal.Summary + "\n" + refusal.Detail
}

func TestATimedOutWaitTellsHowThingsAreNow(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 30 * time.Millisecond })
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		first := foreign(1)
		first.Report.Conflicts[0].Holder.HeldFor = 3
		onWait(first)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	got := text(t, err)
	for _, want := range []string{"waited", "as long as -weaver-wait allows", "Still in the way: ", "alice (session alice-7, intent 'net'", "`tfweaver why t1`", "Run the command again"} {
		if strings.Count(got, want) < 1 {
			t.Errorf("the text lacks %q:\n%s", want, got)
		}
	}
	for _, stray := range []string{"simcloud_subnet.b waits", "is refused", "Queue place", "Ctrl-C"} {
		if strings.Contains(got, stray) {
			t.Errorf("the text has %q:\n%s", stray, got)
		}
	}
	if n := strings.Count(got, "was not sent"); n != 1 {
		t.Errorf("said %d times that it was not sent:\n%s", n, got)
	}
}

func TestReportsGrowOld(t *testing.T) {
	t.Parallel()
	before := blamed("alice", 1)
	before.Conflicts[0].Holder.HeldFor = 3
	after := aged(before, 20*time.Second)
	if got := after.Conflicts[0].Holder.HeldFor; got != 23 || before.Conflicts[0].Holder.HeldFor != 3 {
		t.Errorf("held for %v, and before for %v", got, before.Conflicts[0].Holder.HeldFor)
	}
	if after.Wait.Waited != 20 || before.Wait.Waited != 0 {
		t.Errorf("waited %v, and before %v", after.Wait.Waited, before.Wait.Waited)
	}
}

// needed is a refusal because objects of these states use what is to go.
func needed(states ...string) conflict.Report {
	report := blamed("alice", 0)
	report.Decision, report.Wait, report.Conflicts, report.Requester.State = conflict.Reject, nil, nil, "mine"
	for _, state := range states {
		report.Conflicts = append(report.Conflicts, conflict.Conflict{
			Resource: conflict.Resource{CloudID: string(subnetID)}, Relation: "guarded", Class: "dependency",
			Fact:   &conflict.Fact{What: "references /net/n1", State: state, Object: &conflict.Resource{CloudID: "/net/n1", Address: "nic.n1"}},
			Holder: &conflict.Holder{Session: "alice-7", Actor: "alice", State: conflict.Ended},
		})
	}
	return report
}

func TestRefusalsBlameWhomTheyShould(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands", "apply.md"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(r conflict.Report, f func(*conflict.Report)) conflict.Report { f(&r); return r }
	for name, tt := range map[string]struct {
		report conflict.Report
		title  string
		own    int
	}{
		"own state":       {needed("mine", "mine"), "other objects of this state", 1},
		"one of another":  {needed("mine", "theirs"), "other objects still need it", 0},
		"of nobody known": {needed(""), "other objects still need it", 0},
		"another session": {change(blamed("alice", 0), func(r *conflict.Report) { r.Decision = conflict.Reject }), "conflicts with another session", 0},
		"the same run":    {change(blamed("bob", 0), func(r *conflict.Report) { r.Decision, r.Requester.Session = conflict.Reject, "bob-7" }), "another change of this run", 0},
		"not there":       {change(blamed("x", 0), func(r *conflict.Report) { r.Decision, r.Conflicts[0].Holder = conflict.Reject, nil }), "not as planned", 0},
		"not enough":      {short20(), "there is not enough left", 0},
		"a dead half": {change(blamed("bob", 0), func(r *conflict.Report) {
			r.Decision, r.Conflicts[0].Failed, r.Conflicts[0].Holder = conflict.Reject, "create a.b", nil
		}), "belongs with it has failed", 0},
		"unforeseen": {change(blamed("alice", 0), func(r *conflict.Report) { r.Decision, r.Conflicts[0].Exceeded = conflict.Reject, true }), "more than was held", 0},
		"half replaced": {change(blamed("alice", 0), func(r *conflict.Report) {
			r.Decision, r.Conflicts[0].Holder.State, r.Conflicts[0].Holder.Result = conflict.Replan, conflict.Ended, "half replaced"
		}), "half replaced", 0},
		"an outdated plan": {change(blamed("alice", 0), func(r *conflict.Report) { r.Decision = conflict.Replan }), "out of date", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
				return nil, &client.RejectedError{Report: tt.report}
			}
			_, err := r.Admit(t.Context(), call(intercept.Delete))
			got := text(t, err)
			if !strings.Contains(got, tt.title) {
				t.Errorf("the text is\n%s", got)
			}
			_, title, _ := strings.Cut(got, " refused: ")
			title, _, _ = strings.Cut(title, "\n")
			if !strings.Contains(string(page), "| "+title+" |") {
				t.Errorf("the documentation does not have %q", title)
			}
			s := r.Summary()
			if len(s.Refused[0].OwnState) != tt.own {
				t.Errorf("summary %+v", s)
			}
			if blames := slices.Contains([]string{"another session", "an outdated plan", "not enough", "unforeseen"}, name); blames != (len(s.InWay) == 1) {
				t.Errorf("in the way %v", s.InWay)
			}
		})
	}
}

func TestTheWaitForOneselfIsSplitOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		for _, actor := range []string{"s6", "s1", "s6", "s5"} {
			onWait(client.Waiting{Tx: "t1", Foreign: true, Report: blamed(actor, 1)})
		}
		onWait(sibling())
		time.Sleep(300 * time.Millisecond) // behind the own sibling only
		return &fakeGrant{}, nil
	}
	begun := time.Now()
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	if len(s.Waited) != 1 || s.Waited[0].For > time.Since(begun)-300*time.Millisecond {
		t.Fatalf("waits %+v", s.Waited)
	}
	var names []string
	for _, p := range s.Waited[0].Holders {
		names = append(names, p.Session)
	}
	if got := strings.Join(names, " "); got != "s6-7 s1-7 s5-7" || strings.Join(s.InWay, " ") != got {
		t.Errorf("holders %q, in the way %q", got, s.InWay)
	}
}
