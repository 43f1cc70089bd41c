// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

func overridden(t *testing.T, seen conflict.Report) rig {
	t.Helper()
	r := newRig(t, func(c *Config) {
		c.Override = Override{ID: "t9", By: "bob", Reason: "alice is on leave"}
	})
	r.session.explain = map[admission.TxID]conflict.Report{"t9": seen}
	return r
}

// decision is one about the object that the fake engine lowers everything to.
func decision(change func(*conflict.Report)) conflict.Report {
	report := blamed("alice", 0)
	report.ID, report.Decision, report.Action = "t9", conflict.Reject, "delete"
	report.Object = &conflict.Resource{CloudID: string(subnetID)}
	if change != nil {
		change(&report)
	}
	return report
}

func TestAnOverridePassesOneRefusal(t *testing.T) {
	t.Parallel()
	r := overridden(t, decision(nil))
	refusing(r, decision(func(c *conflict.Report) { c.ID = "t20" }))
	if _, err := r.Admit(t.Context(), call(intercept.Delete)); err != nil {
		t.Fatal(err)
	}
	want := []admission.Pass{{Tx: "t20", Mode: "override", By: "bob", Reason: "alice is on leave", Of: "t9"}}
	if diff := cmp.Diff(want, r.session.passes()); diff != "" {
		t.Errorf("passed (-want +got):\n%s", diff)
	}
	if p := r.Summary().Passed; len(p) != 1 || p[0].Mode != views.Overridden || p[0].By != "bob" || p[0].Of != "t9" || !p[0].Refused {
		t.Errorf("told as %+v", p)
	}
	_, err := r.Admit(t.Context(), call(intercept.Delete))
	wantRefusal(t, err, "simcloud_subnet.b")
	r.Finish(t.Context())
	if len(r.view.problems) != 0 {
		t.Errorf("warned of %+v", r.view.problems)
	}
}

// TestAnOverrideByAddress: what a forecast refuses has no transaction yet. It is
// for that change alone, and for one decision about it.
func TestAnOverrideByAddress(t *testing.T) {
	t.Parallel()
	for address, passes := range map[admission.TxID]int{"simcloud_subnet.b": 1, "simcloud_subnet.c": 0} {
		r := newRig(t, func(c *Config) {
			c.Override = Override{ID: address, By: "bob", Reason: "alice is on leave"}
		})
		r.Plan(changes{address: "simcloud_subnet.b"})
		refusing(r, decision(func(c *conflict.Report) { c.ID = "t20" }))
		_, err := r.Admit(t.Context(), call(intercept.Delete))
		if got := len(r.session.passes()); got != passes || (err == nil) != (passes == 1) {
			t.Errorf("%s: %d passes, %v", address, got, err)
		}
		if _, err := r.Admit(t.Context(), call(intercept.Delete)); err == nil {
			t.Errorf("%s: the word is good for two", address)
		}
	}
}

func TestAnOverridePassesAWait(t *testing.T) {
	t.Parallel()
	r := overridden(t, decision(nil))
	passed := make(chan Grant, 1)
	r.session.pass = func(_ admission.TxID, p admission.Pass) (Grant, error) {
		g := &fakeGrant{passed: &p}
		passed <- g
		return g, nil
	}
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		onWait(foreign(1))
		select {
		case g := <-passed:
			return g, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if _, err := r.Admit(t.Context(), call(intercept.Delete)); err != nil {
		t.Fatal(err)
	}
	if got := r.session.passes(); len(got) != 1 || got[0].Mode != "override" || got[0].Tx != "t1" {
		t.Errorf("passed %+v", got)
	}
	if p := r.Summary().Passed; len(p) != 1 || p[0].Refused {
		t.Errorf("told as %+v", p)
	}
}

func TestAnOverrideIsAboutOneObjectAndAction(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]conflict.Report{
		"another object": decision(func(r *conflict.Report) { r.Object.CloudID = "/net/other" }),
		"another action": decision(func(r *conflict.Report) { r.Action = "update" }),
		"another state": decision(func(r *conflict.Report) {
			r.Object.CloudID, r.Requester.State = "~pending/s/simcloud_subnet.b", "theirs"
		}),
		"another address": decision(func(r *conflict.Report) { r.Object, r.Address = nil, "a.b" }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := overridden(t, seen)
			refusing(r, decision(nil))
			_, err := r.Admit(t.Context(), call(intercept.Delete))
			wantRefusal(t, err, "simcloud_subnet.b")
			if n := len(r.session.passes()); n != 0 {
				t.Errorf("%d passes", n)
			}
			r.Finish(t.Context())
			if p := r.view.problems; len(p) != 1 || !p[0].Warning {
				t.Errorf("warned of %+v", p)
			}
		})
	}
}

func TestAnOverrideOfAPendingObjectGoesByItsAddress(t *testing.T) {
	t.Parallel()
	r := overridden(t, decision(func(r *conflict.Report) { r.Object.CloudID = "~pending/s/simcloud_subnet.b" }))
	refusing(r, decision(nil))
	if _, err := r.Admit(t.Context(), call(intercept.Delete)); err != nil {
		t.Error(err)
	}
}

func TestAnOverrideOfNothingKnownIsAWarning(t *testing.T) {
	t.Parallel()
	r := overridden(t, decision(nil))
	r.session.explain = nil
	refusing(r, decision(nil))
	_, err := r.Admit(t.Context(), call(intercept.Delete))
	wantRefusal(t, err, "simcloud_subnet.b")
	r.Finish(t.Context())
	if p := r.view.problems; len(p) != 1 || !p[0].Warning || !strings.Contains(p[0].Detail, "no decision t9") {
		t.Errorf("warned of %+v", p)
	}
}

// TestAnOverrideOfNothingKnownIsAWarningThoughNothingWaited: a misspelt decision
// is not told as one that was about something else.
func TestAnOverrideOfNothingKnownIsAWarningThoughNothingWaited(t *testing.T) {
	t.Parallel()
	for known, want := range map[bool]string{true: "No change of this run waited", false: "no decision t9"} {
		r := overridden(t, decision(nil))
		if !known {
			r.session.explain = nil
		}
		r.Finish(t.Context())
		if p := r.view.problems; len(p) != 1 || !strings.Contains(p[0].Detail, want) {
			t.Errorf("known %v: warned of %+v", known, p)
		}
	}
}
