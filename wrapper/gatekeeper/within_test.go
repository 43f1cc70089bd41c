// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// heldBy is a report of what a session holds that has nothing on its way.
func heldBy(actor, state string) conflict.Report {
	report := blamed(actor, 1)
	report.Conflicts[0].Holder.State = state
	return report
}

// claimedBy is one of several calls that a session holds together.
func claimedBy(actor string) conflict.Report {
	report := heldBy(actor, conflict.Running)
	report.Conflicts[0].Holder.Claim = true
	return report
}

// TestNoRunWaitsForWhoStartedIt, nor is it refused because of them; for others, and
// for calls on their way, it waits.
func TestNoRunWaitsForWhoStartedIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		report conflict.Report
		passes int
	}{
		"held by the run around":     {heldBy("alice", conflict.Admitted), 1},
		"held with others by it":     {claimedBy("alice"), 1},
		"being changed by it":        {heldBy("alice", conflict.Running), 0},
		"held by somebody else":      {heldBy("carol", conflict.Admitted), 0},
		"nobody is known to hold it": {conflict.Report{ID: "t1", Conflicts: []conflict.Conflict{{}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Within = []string{"alice-7"} })
			refusing(r, tt.report)
			_, err := r.Admit(t.Context(), call(intercept.Delete))
			if got := r.session.passes(); len(got) != tt.passes || (err == nil) != (tt.passes == 1) {
				t.Errorf("refused: passed %+v, %v", got, err)
			}

			r = newRig(t, func(c *Config) { c.Within = []string{"alice-7"} })
			if r.within(tt.report) != (tt.passes == 1) {
				t.Error("waiting is judged in another way")
			}
		})
	}
	if newRig(t, nil).within(heldBy("alice", conflict.Admitted)) {
		t.Error("a run that nobody started is within one")
	}
}

// TestAWaitForWhoStartedItEnds: the wait is passed as soon as nothing else is in
// the way.
func TestAWaitForWhoStartedItEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Within = []string{"alice-7"} })
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(client.Waiting{Tx: "t1", Foreign: true, Report: heldBy("alice", conflict.Running)})
		if len(r.session.passes()) != 0 {
			t.Error("a call on its way is passed")
		}
		onWait(client.Waiting{Tx: "t1", Foreign: true, Report: heldBy("alice", conflict.Admitted)})
		for len(r.session.passes()) == 0 && ctx.Err() == nil {
			onWait(client.Waiting{Tx: "t1"})
		}
		return &fakeGrant{}, nil
	}
	if _, err := r.Admit(t.Context(), call(intercept.Delete)); err != nil {
		t.Fatal(err)
	}
	if got := r.session.passes(); len(got) != 1 || got[0].Tx != admission.TxID("t1") || got[0].Reason == "" {
		t.Errorf("passed: %+v", got)
	}
}

// TestTheStateOfWhoStartedIt cannot be worked on: Terraform's own lock would say
// the same.
func TestTheStateOfWhoStartedIt(t *testing.T) {
	t.Parallel()
	session := newFakeSession()
	report := busyState("t1", conflict.Wait)
	session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(client.Waiting{Tx: "t1", Foreign: true, Report: report})
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	g := stateGate(t, session)
	g.config.Within = []string{report.Conflicts[0].Holder.Session}
	var refusal *intercept.Refusal
	if err := g.EnterState(t.Context(), theState()); !errors.As(err, &refusal) || !strings.Contains(refusal.Summary, "the run that started this one") {
		t.Errorf("%v", err)
	}
}
