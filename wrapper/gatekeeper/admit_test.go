// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

func TestAdmitSubmitsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for range 2 {
		if _, err := r.Admit(t.Context(), call(intercept.Update)); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range r.session.requests() {
		got := s.request
		if got.Session != "bob-1" || got.Key != uint64(i+1) || got.Address != "simcloud_subnet.b" || got.Self != subnetID {
			t.Errorf("submit %d: %+v", i, got)
		}
		if len(got.Guards) != 0 {
			t.Errorf("guards without a forecast: %v", got.Guards)
		}
	}
}

func TestAdmitGuardsTheLifeThatWasPlannedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(changes{address: "simcloud_subnet.b", ops: []ruleengine.Operation{{Type: "simcloud_subnet", Action: admission.Update}}})
	r.session.prospects = func([]admission.Request) []client.Prospect {
		return []client.Prospect{{Decision: "admit", Incarnation: 3}}
	}
	if _, err := r.Forecast(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	permit, err := r.Admit(t.Context(), call(intercept.Create))
	if err != nil {
		t.Fatal(err)
	}
	want := []admission.Guard{{Kind: admission.SameLife, Node: subnetID, Value: 3}}
	if diff := cmp.Diff(want, r.session.requests()[0].request.Guards); diff != "" {
		t.Errorf("guards (-want +got):\n%s", diff)
	}
	// A life that this run began itself is none that it planned on.
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded, NewState: object(string(subnetID))})
	if _, err := r.Admit(t.Context(), call(intercept.Update)); err != nil {
		t.Fatal(err)
	}
	if guards := r.session.requests()[1].request.Guards; len(guards) != 0 {
		t.Errorf("guards after a create: %v", guards)
	}
}

// TestAdmitGuardsTheAgeOfASavedPlan: a plan that was made before the run is held
// to the lives that there were then, on the coordinator's clock. What it makes
// has none.
func TestAdmitGuardsTheAgeOfASavedPlan(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(changes{address: "simcloud_subnet.b", ops: []ruleengine.Operation{{Type: "simcloud_subnet", Action: admission.Update}}})
	r.session.at = int64(5000 * time.Second)
	if err := r.MadeAt(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, action := range []intercept.Action{intercept.Update, intercept.Delete, intercept.Create} {
		if _, err := r.Admit(t.Context(), call(action)); err != nil {
			t.Fatal(err)
		}
	}
	for i, q := range r.session.requests() {
		var got []admission.Guard
		for _, g := range q.request.Guards {
			if g.Kind == admission.PlannedAt {
				got = append(got, g)
			}
		}
		if q.request.Action == admission.Create {
			if len(got) != 0 {
				t.Errorf("a create is held to %v", got)
			}
			continue
		}
		const made = uint64(1400 * time.Second)
		if len(got) != 1 || got[0].Node != subnetID || got[0].Value > made || got[0].Value < made-uint64(time.Minute) {
			t.Errorf("request %d: %v", i, got)
		}
	}
	r.Plan(nil)
	if _, err := r.Admit(t.Context(), call(intercept.Update)); err != nil {
		t.Fatal(err)
	}
	if guards := r.session.requests()[3].request.Guards; len(guards) != 0 {
		t.Errorf("guards of the next plan: %v", guards)
	}
}

func TestTheFirstCallIsAnnounced(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(nil)
	n := 0
	r.OnFirstCall(func(context.Context) {
		n++
		r.Plan(changes{address: "found.late"})
	})
	for range 2 {
		if _, err := r.Admit(t.Context(), call(intercept.Update)); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.session.requests()[0].request.Address; n != 1 || got != "found.late" {
		t.Errorf("announced %d times, the first call has the address %q", n, got)
	}
}

func TestLogicalObjectsAreFree(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{logical: true} })
	permit, err := r.Admit(t.Context(), call(intercept.Create))
	if err != nil {
		t.Fatal(err)
	}
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded})
	if n := r.Submitted(); n != 0 || len(r.session.requests()) != 0 {
		t.Errorf("%d calls were submitted", n)
	}
}

func TestAStaleCallIsLoweredAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.submit = func(_ context.Context, n int, _ func(client.Waiting)) (Grant, error) {
		if n < 3 {
			return nil, &client.StaleError{Tx: "t9"}
		}
		return &fakeGrant{}, nil
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	got := r.session.requests()
	if len(got) != 4 || got[0].resubmit != "" || got[1].resubmit != "t9" {
		t.Fatalf("submits %+v", got)
	}
	for i, s := range got {
		if s.request.Key != got[0].request.Key {
			t.Errorf("round %d has another key", i)
		}
		want := mode.IX
		if i >= fineRounds {
			want = mode.X
		}
		if m := s.request.Locks.Mode(netID); m != want {
			t.Errorf("round %d: %v on the parent, want %v", i, m, want)
		}
	}
}

func TestAGraphThatNeverRests(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
		return nil, &client.StaleError{Tx: "t9"}
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "Nothing was changed")
	if n := len(r.session.requests()); n != maxRounds {
		t.Errorf("%d attempts", n)
	}
}

// wantRefusal checks that an error is a refusal whose detail has all texts.
func wantRefusal(t *testing.T, err error, texts ...string) {
	t.Helper()
	var refusal *intercept.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("error %v is no refusal", err)
	}
	for _, text := range texts {
		if !strings.Contains(refusal.Detail, text) {
			t.Errorf("the detail lacks %q:\n%s", text, refusal.Detail)
		}
	}
}

func TestARejectionCarriesTheReport(t *testing.T) {
	t.Parallel()
	for decision, summary := range map[conflict.Decision]string{conflict.Reject: "conflicts", conflict.Replan: "out of date"} {
		r := newRig(t, nil)
		report := blamed("alice", 0)
		report.Decision = decision
		r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
			return nil, &client.RejectedError{Report: report}
		}
		_, err := r.Admit(t.Context(), call(intercept.Delete))
		wantRefusal(t, err, "simcloud_subnet.b", "alice", "'net'", "tfweaver why t1")
		if !strings.Contains(err.Error(), summary) {
			t.Errorf("%s: %v", decision, err)
		}
		refused := r.Summary().Refused
		if len(refused) != 1 || refused[0].Report == nil || refused[0].Report.Conflicts[0].RuleDoc != "why r" {
			t.Errorf("the summary has %+v", refused)
		}
		if len(r.view.refused) != 1 {
			t.Error("the view was not told")
		}
	}
}

func TestRulesThatDoNotFitRefuse(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{err: errors.New("no realm")} })
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "no realm")
	if len(r.session.requests()) != 0 {
		t.Error("it was submitted")
	}
}

func TestALostSessionRefusesEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.err = errors.New("lease ran out")
	close(r.session.done)
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "lease ran out", "Run the command again")
	if len(r.session.requests()) != 0 {
		t.Error("it was submitted")
	}
}

func TestTheEndOfTheCallIsNoRefusal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := r.Admit(ctx, call(intercept.Create))
	var refusal *intercept.Refusal
	if !errors.Is(err, context.Canceled) || errors.As(err, &refusal) {
		t.Errorf("error %v", err)
	}
	s := r.Summary()
	if len(s.Refused) != 0 || len(s.Waited) != 1 || !s.Waited[0].Refused {
		t.Errorf("summary %+v", s)
	}
}

func TestWaitingIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Repeat = time.Millisecond })
	admit := make(chan struct{})
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(sibling())
		onWait(foreign(2))
		<-admit
		return &fakeGrant{}, nil
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.Admit(t.Context(), call(intercept.Create))
		done <- err
	}()
	r.view.until(t, func() bool { return len(r.view.waiting) >= 3 })
	close(admit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	first, second := r.view.waiting[0], r.view.waiting[1]
	if first.Waited != 0 || first.Address != "simcloud_subnet.b" || first.Report.Wait.Position != 2 {
		t.Errorf("first shown as %+v", first)
	}
	if second.Waited <= 0 {
		t.Errorf("then shown as %+v", second)
	}
	if len(r.view.admitted) != 1 || r.view.admitted[0].Tx != "t1" {
		t.Errorf("admission shown as %+v", r.view.admitted)
	}
	if w := r.Summary().Waited; len(w) != 1 || len(w[0].Holders) != 1 || w[0].Holders[0].Name != `alice ("net")` || w[0].Refused {
		t.Errorf("summary %+v", w)
	}
}

func TestAnotherHolderIsShownAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(2))
		onWait(foreign(1)) // the same holder: worth a reminder only
		onWait(client.Waiting{Tx: "t1", Foreign: true, Report: blamed("carol", 1)})
		return &fakeGrant{}, nil
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if n := len(r.view.waiting); n != 2 {
		t.Errorf("shown %d times, want once per holder", n)
	}
}

func TestWaitingForASiblingIsNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Repeat = time.Millisecond })
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(sibling())
		return &fakeGrant{}, nil
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if len(r.view.waiting)+len(r.view.admitted)+len(r.Summary().Waited) != 0 {
		t.Error("it was shown")
	}
}

func TestPatienceEndsBehindOthersOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 30 * time.Millisecond })
	var cause error
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(sibling())
		select {
		case <-ctx.Done():
			return nil, errors.New("patience ran out behind a sibling")
		case <-time.After(120 * time.Millisecond):
		}
		onWait(foreign(1))
		<-ctx.Done()
		cause = context.Cause(ctx)
		return nil, ctx.Err()
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "alice", "-weaver-wait", "Nothing was changed")
	if !errors.Is(cause, errImpatient) {
		t.Errorf("the submit ended because of %v", cause)
	}
	if s := r.Summary(); len(s.Refused) != 1 || len(s.Waited) != 1 {
		t.Errorf("summary %+v", s)
	}
}
