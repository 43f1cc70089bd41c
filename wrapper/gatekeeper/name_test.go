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
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const eitherTwin = "one of x_y.a[0], x_y.a[1]"

func planTwins(r rig) { r.Plan(changes{address: "x_y.a[0]", twins: []string{"x_y.a[1]"}}) }

// Where a call may be that of several changes, that is what the coordinator and
// the user are told.
func TestNobodyIsToldOneAddressOfSeveral(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	planTwins(r)
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		return nil, &client.RejectedError{Report: conflict.Report{ID: "t1", Decision: conflict.Reject, Address: eitherTwin}}
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, eitherTwin)
	if got := r.session.requests()[0].request.Address; got != eitherTwin {
		t.Errorf("the coordinator is told of %q", got)
	}
	if r.view.waiting[0].Address != eitherTwin || r.view.refused[0].Address != eitherTwin || r.Summary().Refused[0].Address != eitherTwin {
		t.Errorf("shown as %q and %q", r.view.waiting[0].Address, r.view.refused[0].Address)
	}
}

// A person who passes a decision has seen the address of one change in the
// forecast; its call may be any of those that are alike.
func TestAnOverrideMeansOneOfTwins(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Override = Override{ID: "x_y.a[0]", By: "bob", Reason: "why not"} })
	planTwins(r)
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
		return nil, &client.RejectedError{Report: conflict.Report{ID: "t1", Decision: conflict.Reject, Address: eitherTwin}}
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil || len(r.session.passes()) != 1 {
		t.Errorf("%v after %d passes", err, len(r.session.passes()))
	}
}

// Of two replaces whose creates are alike, one of which succeeded, one is half
// done, and nobody knows which.
func TestHalfDoneOfTwins(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var calls []lowering.PlannedCall
	for _, address := range []string{"x_y.a[0]", "x_y.a[1]"} {
		for _, action := range []admission.Action{admission.Delete, admission.Create} {
			c := planned(action, address, address)
			calls = append(calls, c)
		}
	}
	r.Plan(changes{calls: calls})
	r.succeeded(lowering.MatchOf(calls[0]))
	r.succeeded(lowering.MatchOf(calls[2]))
	r.succeeded(lowering.MatchOf(calls[1], calls[3]))
	want := []views.HalfDone{{Address: eitherTwin, Done: []string{"delete"}, Left: []string{"create"}}}
	if diff := cmp.Diff(want, r.Summary().HalfDone); diff != "" {
		t.Errorf("half done (-want +got):\n%s", diff)
	}
}

// Without a plan the values say which object it is, and no address is made up.
func TestNamesByValues(t *testing.T) {
	t.Parallel()
	state := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	schema := &intercept.Schema{Sensitive: cty.NewPathSet(cty.GetAttrPath("secret"))}
	secretName := &intercept.Schema{Sensitive: cty.NewPathSet(cty.GetAttrPath("name"))}
	for want, c := range map[string]intercept.Call{
		`a x_y (name "web")`:    {Schema: schema, Planned: state(map[string]cty.Value{"name": cty.StringVal("web"), "id": cty.UnknownVal(cty.String)})},
		`a x_y (id "/web/1")`:   {Schema: secretName, Prior: state(map[string]cty.Value{"name": cty.StringVal("hush"), "id": cty.StringVal("/web/1")})},
		`a x_y (name "before")`: {Schema: schema, Prior: state(map[string]cty.Value{"name": cty.StringVal("before")}), Planned: state(map[string]cty.Value{"name": cty.StringVal("after")})},
		`a x_y`:                 {Schema: schema, Planned: state(map[string]cty.Value{"name": cty.UnknownVal(cty.String), "secret": cty.StringVal("hush")})},
		`a x_y `:                {Planned: state(map[string]cty.Value{"name": cty.StringVal("of a type that nobody knows the secrets of")})},
	} {
		c.Type = "x_y"
		if got := nameOf(lowering.Match{}, c); got != strings.TrimSpace(want) {
			t.Errorf("called %q, want %q", got, want)
		}
	}
}

// The coordinator is not told the name; whoever waits is shown it all the same.
func TestReportsOfCallsWithoutAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(changes{})
	news := foreign(1)
	news.Report.Address = ""
	r.session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(news)
		return &fakeGrant{}, nil
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	const want = `a simcloud_subnet (id "/net/sub")`
	w := r.view.waiting[0]
	if w.Address != want || w.Report.Address != want || r.session.requests()[0].request.Address != "" {
		t.Errorf("shown as %q, reported as %q, asked for %q", w.Address, w.Report.Address, r.session.requests()[0].request.Address)
	}
}

// An outcome that this run saw is not called unknown because the coordinator was
// not there to be told.
func TestAnOutcomeThatNobodyCouldBeTold(t *testing.T) {
	t.Parallel()
	for result, failed := range map[intercept.Result]bool{intercept.Succeeded: false, intercept.Failed: true} {
		r := newRig(t, nil)
		permit, grant := admitted(t, r, intercept.Create)
		grant.complete = func(int) error { return errors.New("no") }
		if err := permit.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		permit.Done(t.Context(), intercept.Outcome{Result: result, NewState: object("/net/x-17")})
		want := []views.Uncertain{{Address: "simcloud_subnet.b", Tx: "t1", Seen: true, Failed: failed, Exists: true}}
		if diff := cmp.Diff(want, r.Summary().Uncertain); diff != "" {
			t.Errorf("result %v: uncertain (-want +got):\n%s", result, diff)
		}
	}
}

// A read that settles nothing yet says what it saw, once, and from when on that
// would count.
func TestAReadThatSettlesNothingYet(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	reads := r.readable(func(int, string) (intercept.Object, error) { return intercept.Object{}, nil })
	done := blocked(t, r, uncertain(admission.Create, 2500*time.Millisecond))
	r.view.until(t, func() bool { return len(r.view.reading) == 2 })
	first, second := r.view.reading[0], r.view.reading[1]
	if first.Found != "" || second.Found != views.Absent || second.After <= 0 || second.After > 2500*time.Millisecond {
		t.Errorf("shown as %+v and %+v", first, second)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(r.view.reading) != 2 || reads.reads() < 2 {
		t.Errorf("shown %d times for %d reads", len(r.view.reading), reads.reads())
	}
}

// A call of this very run whose outcome nobody knows does not keep the others
// waiting for ever.
func TestPatienceWithALostCallOfTheSameRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 50 * time.Millisecond })
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		news := sibling()
		news.Report.Conflicts = []conflict.Conflict{{Holder: &conflict.Holder{Session: "bob-1", Tx: "t0", State: conflict.Uncertain}}}
		news.Report.Actions = []conflict.Advice{{Verb: "verify", Command: "tfweaver resolve t0 -reason TEXT -exists"}}
		onWait(news)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "t0")
}

// That a call of this run became uncertain is no news to those who wait for it:
// it is found out by asking.
func TestACallOfTheSameRunThatIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 50 * time.Millisecond })
	lost := uncertain(admission.Create, -1)
	lost.Tx, lost.Session = "t0", "bob-1"
	r.session.unsettled = []coordinator.Unsettled{lost}
	r.session.explain = map[admission.TxID]conflict.Report{"t1": {
		ID: "t1", Decision: conflict.Wait, Address: "simcloud_subnet.b", Requester: conflict.Party{Session: "bob-1"},
		Conflicts: []conflict.Conflict{{Holder: &conflict.Holder{Session: "bob-1", Tx: "t0", Address: "simcloud_subnet.a", State: conflict.Uncertain}}},
		Actions:   []conflict.Advice{{Verb: "verify", Command: "tfweaver resolve t0 -reason TEXT -exists"}},
	}}
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(sibling())
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "simcloud_subnet.a", "tfweaver resolve t0")
	if len(r.view.waiting) != 1 {
		t.Errorf("shown %d times", len(r.view.waiting))
	}
}
