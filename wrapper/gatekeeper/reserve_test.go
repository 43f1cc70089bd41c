// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

var bucket = admission.BucketOf(netID, "addresses")

func takes(n int64) escrow.Effects { return escrow.Effects{{Bucket: bucket, Amount: n}} }

func planned(action admission.Action, address, group string) lowering.PlannedCall {
	return lowering.PlannedCall{
		ID: admission.CallID(string(action) + " " + address), Address: address, Group: group,
		Operation: ruleengine.Operation{Type: "simcloud_subnet", Address: address, Action: action},
	}
}

// replacing is a plan that replaces simcloud_subnet.b and creates another one.
func replacing() changes {
	return changes{address: "simcloud_subnet.b", calls: []lowering.PlannedCall{
		planned(admission.Delete, "simcloud_subnet.b", "simcloud_subnet.b"),
		planned(admission.Create, "simcloud_subnet.b", "simcloud_subnet.b"),
		planned(admission.Create, "simcloud_subnet.c", ""),
	}}
}

// unordered is what a plan knows of its order without the CLI's graph.
func unordered() lowering.Order { return (&lowering.Plan{}).WithoutOrder("") }

func TestAPlanThatNeedsNothingTogetherIsNotReserved(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, c := range []Changes{nil, plan("simcloud_subnet")} {
		r.Plan(c)
		if err := r.Reserve(t.Context(), unordered()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.session.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestAPlanIsReservedInOneRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2)} })
	r.Plan(replacing())
	grant := &fakeGrant{}
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return grant, nil }
	if err := r.Reserve(t.Context(), unordered()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.session.requests()); n != 1 {
		t.Fatalf("%d requests", n)
	}
	got := r.session.requests()[0].request
	if got.Action != admission.Reserve || got.Key == 0 || len(got.Nodes) != 2 || len(got.Locks)+len(got.Effects)+len(got.Guards) != 0 {
		t.Errorf("asked %+v", got)
	}
	if !got.Whole {
		t.Error("nobody knows the order, and the plan is not held as a whole")
	}
	var ids []string
	for _, c := range got.Calls {
		ids = append(ids, string(c.ID))
		if c.Self != subnetID || c.Locks.Mode(subnetID) == 0 || len(c.Effects) != 1 || c.Address == "" {
			t.Errorf("call %+v", c)
		}
	}
	if diff := cmp.Diff([]string{"create simcloud_subnet.b", "create simcloud_subnet.c", "delete simcloud_subnet.b"}, ids); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got.Calls[0].Group != "simcloud_subnet.b" || got.Calls[1].Group != "" {
		t.Errorf("groups %+v", got.Calls)
	}
	r.Finish(t.Context())
	if !grant.withdrawn {
		t.Error("the reservation is not given back")
	}
}

func TestTheReservationOfAFormerPlanIsGivenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	first := &fakeGrant{}
	r.session.submit = func(_ context.Context, n int, _ func(client.Waiting)) (Grant, error) {
		if n == 0 {
			return first, nil
		}
		if !first.withdrawn {
			t.Error("two plans are reserved at once")
		}
		return &fakeGrant{}, nil
	}
	for range 2 {
		r.Plan(replacing())
		if err := r.Reserve(t.Context(), unordered()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCallsNameTheirReservation(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(replacing())
	if err := r.Reserve(t.Context(), unordered()); err != nil {
		t.Fatal(err)
	}
	for _, action := range []intercept.Action{intercept.Delete, intercept.Update} {
		if _, err := r.Admit(t.Context(), call(action)); err != nil {
			t.Fatal(err)
		}
	}
	foreseen, other := r.session.requests()[1].request, r.session.requests()[2].request
	if foreseen.Plan != "t1" || foreseen.Call != "delete simcloud_subnet.b" {
		t.Errorf("a call of the plan names %q of %q", foreseen.Call, foreseen.Plan)
	}
	if other.Plan != "" || other.Call != "" {
		t.Errorf("a call that the plan does not foresee names %q of %q", other.Call, other.Plan)
	}
}

func TestProvisionersHoldThePlanAsAWhole(t *testing.T) {
	t.Parallel()
	for _, provisioned := range []bool{true, false} {
		r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(1)} })
		c := planned(admission.Create, "simcloud_subnet.b", "")
		c.Provisioned = provisioned
		r.Plan(changes{calls: []lowering.PlannedCall{c}})
		if err := r.Reserve(t.Context(), unordered()); err != nil {
			t.Fatal(err)
		}
		if got := r.session.requests()[0].request.Whole; got != provisioned {
			t.Errorf("provisioned %v: whole %v", provisioned, got)
		}
	}
}

func TestRealmsThatAreOffAreNotReserved(t *testing.T) {
	t.Parallel()
	r := newRig(t, inMode(Off))
	r.Plan(replacing())
	if err := r.Reserve(t.Context(), unordered()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.session.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestObservingAsksForThePlanWithoutWaiting: what would have become of the whole
// plan is told, and nothing that is not there is counted on.
func TestObservingAsksForThePlanWithoutWaiting(t *testing.T) {
	t.Parallel()
	full := short20()
	full.Decision = ""
	for name, grant := range map[string]*fakeGrant{
		"there": {},
		// That it cannot be given back either stops no run.
		"short": {passed: &admission.Pass{Mode: "observe"}, report: &full, withdrawErr: client.ErrUnreachable},
	} {
		r := newRig(t, inMode(Observe))
		r.Plan(replacing())
		r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return grant, nil }
		if err := r.Reserve(t.Context(), unordered()); err != nil {
			t.Fatal(err)
		}
		q := r.session.requests()[0].request
		short := name == "short"
		if q.Action != admission.Reserve || !q.Advisory || grant.withdrawn != short {
			t.Errorf("%s: %s, advisory %t, withdrawn %t", name, q.Action, q.Advisory, grant.withdrawn)
		}
		passed := r.Summary().Passed
		if (len(passed) == 1) != short || short && !passed[0].Refused {
			t.Errorf("%s: told %+v", name, passed)
		}
	}
}

// short20 is the refusal of a plan for which there is not enough.
func short20() conflict.Report {
	return conflict.Report{
		ID: "t1", Decision: conflict.Reject, Action: "reserve", Requester: conflict.Party{Session: "bob-1"},
		Conflicts: []conflict.Conflict{{
			Resource: conflict.Resource{CloudID: string(netID)}, Relation: string(lock.Capacity),
			Capacity: &conflict.Capacity{Bucket: "addresses", Limit: 20, Used: 7, Reserved: 12, Theirs: 12, Asked: 2, Hopeless: true},
			Holder:   &conflict.Holder{Session: "alice-7", Actor: "alice", Objective: "net", State: conflict.Running},
		}},
	}
}

func TestARefusedPlanSendsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(replacing())
	refusing(r, short20())
	err := r.Reserve(t.Context(), unordered())
	wantRefusal(t, err, wholePlan, "alice")
	_, again := r.Admit(t.Context(), call(intercept.Create))
	if len(r.session.requests()) != 1 {
		t.Errorf("%d requests", len(r.session.requests()))
	}
	// Terraform drops the address of a delete.
	wantRefusal(t, again, "simcloud_subnet.b", wholePlan, "alice")
	if s := r.Summary(); len(s.Refused) != 1 || s.Refused[0].Address != wholePlan || len(r.view.refused) != 1 {
		t.Errorf("summary %+v", s)
	}
	r.Plan(replacing()) // planned anew
	r.session.submit = newFakeSession().submit
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Errorf("a call of the next plan: %v", err)
	}
}

func TestAReservationWaitsAsACallDoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 10 * time.Millisecond })
	r.Plan(replacing())
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		<-ctx.Done()
		return nil, ctx.Err()
	}
	wantRefusal(t, r.Reserve(t.Context(), unordered()), wholePlan, "-weaver-wait", "alice")
	if w := r.view.waiting; len(w) != 1 || w[0].Address != wholePlan {
		t.Errorf("shown %+v", w)
	}
}

func TestAReservationThatIsLeftIsNoRefusal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(replacing())
	ctx, stop := context.WithCancel(t.Context())
	r.session.submit = func(ctx context.Context, _ int, _ func(client.Waiting)) (Grant, error) {
		stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var refusal *intercept.Refusal
	if err := r.Reserve(ctx, unordered()); !errors.Is(err, context.Canceled) || errors.As(err, &refusal) {
		t.Errorf("error %v", err)
	}
}

func TestAPlanInALenientModeGoesOnUnreserved(t *testing.T) {
	t.Parallel()
	r := newRig(t, inMode(Wait))
	r.Plan(replacing())
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
		return nil, client.ErrUnreachable
	}
	if err := r.Reserve(t.Context(), unordered()); err != nil {
		t.Error(err)
	}
	if p := r.Summary().Passed; len(p) != 1 || p[0].Address != wholePlan {
		t.Errorf("passed %+v", p)
	}
}

func TestCapacityIsReadBeforeItIsAskedFor(t *testing.T) {
	t.Parallel()
	second := int64(time.Second)
	readings := []admission.Reading{{Bucket: bucket, Limit: escrow.At(20), Use: escrow.At(7)}}
	for name, tt := range map[string]struct {
		readAt int64
		reads  int
	}{
		"never read":   {0, 1},
		"read lately":  {90 * second, 0},
		"read too old": {60 * second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2), readings: readings} })
			r.session.index, r.session.at = 42, 100*second
			r.session.buckets = map[escrow.Key]coordinator.BucketStatus{bucket: {ReadAt: tt.readAt}}
			reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
			r.Plan(replacing()) // three calls share the bucket
			if err := r.Reserve(t.Context(), unordered()); err != nil {
				t.Fatal(err)
			}
			// What was reserved need not be read for each call.
			if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
				t.Fatal(err)
			}
			if n := reader.reads(); n != tt.reads {
				t.Errorf("%d reads", n)
			}
			if tt.reads == 0 {
				return
			}
			if reader.asked[0] != string(netID) {
				t.Errorf("read %v", reader.asked)
			}
			if m := r.session.measured; len(m) != 1 || m[0].began != 42 || !cmp.Equal(m[0].readings, readings) {
				t.Errorf("measured %+v", m)
			}
		})
	}
}

func TestCapacityThatCannotBeReadIsANote(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2), unreadable: errors.New("no importer")} })
	r.readable(nil)
	r.Plan(replacing())
	for range 2 {
		if err := r.Reserve(t.Context(), unordered()); err != nil {
			t.Fatal(err)
		}
	}
	if p := r.view.problems; len(p) != 1 || !p[0].Warning {
		t.Errorf("shown %+v", p)
	}
}

func TestACallWithoutAPlanIsMeasuredItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2)} })
	r.Plan(nil)
	reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if n := reader.reads(); n != 1 {
		t.Errorf("%d reads", n)
	}
	if got := r.session.requests()[0].request; len(got.Effects) != 1 || got.Plan != "" {
		t.Errorf("asked %+v", got)
	}
}

func TestAHopelessPlanIsMeasuredAndAskedForOnceMore(t *testing.T) {
	t.Parallel()
	for _, better := range []bool{true, false} {
		r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2)} })
		r.session.buckets = map[escrow.Key]coordinator.BucketStatus{bucket: {ReadAt: 1}}
		reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
		r.Plan(replacing())
		r.session.submit = func(_ context.Context, n int, _ func(client.Waiting)) (Grant, error) {
			if n > 0 && better {
				return &fakeGrant{}, nil
			}
			return nil, &client.RejectedError{Report: short20()}
		}
		err := r.Reserve(t.Context(), unordered())
		if (err == nil) != better {
			t.Errorf("better %v: %v", better, err)
		}
		got := r.session.requests()
		if len(got) != 2 || got[0].request.Key == got[1].request.Key || got[1].resubmit != "" || reader.reads() != 1 {
			t.Errorf("better %v: %d requests, %d reads", better, len(got), reader.reads())
		}
	}
}

func TestRefusalsAreBasedOnFreshFacts(t *testing.T) {
	t.Parallel()
	referring := func(age float64, decision conflict.Decision) conflict.Report {
		report := needed("theirs")
		report.Decision = decision
		report.Conflicts[0].Fact.Age = age
		return report
	}
	for name, tt := range map[string]struct {
		report          conflict.Report
		found           intercept.Object
		fails           error
		requests, reads int
	}{
		"an old reference that is gone":  {referring(31, conflict.Reject), gone(), nil, 2, 1},
		"an old reference that stands":   {referring(31, conflict.Reject), there("/net/n1"), nil, 2, 1},
		"a fresh reference":              {referring(29, conflict.Reject), gone(), nil, 1, 0},
		"a reference that is not read":   {referring(31, conflict.Reject), gone(), errors.New("forbidden"), 1, 1},
		"a plan that is out of date":     {referring(31, conflict.Replan), gone(), nil, 1, 0},
		"an old absence of what it uses": {absent(40), there(string(netID)), nil, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.session.index = 42
			r.session.found = map[graph.NodeID]coordinator.Found{
				"/net/n1": {Known: true, Node: graph.Node{Decl: graph.Decl{ID: "/net/n1", Kind: graph.Resource}}},
			}
			reader := r.readable(func(int, string) (intercept.Object, error) { return tt.found, tt.fails })
			refusing(r, tt.report)
			_, err := r.Admit(t.Context(), call(intercept.Delete))
			wantRefusal(t, err, "simcloud_subnet.b")
			if n := len(r.session.requests()); n != tt.requests || reader.reads() != tt.reads {
				t.Errorf("%d requests, %d reads", n, reader.reads())
			}
			if tt.requests == 1 {
				return
			}
			if o := r.session.observed; len(o) != 1 || o[0].began != 42 || o[0].objects[0].Exists != tt.found.Exists {
				t.Errorf("observed %+v", o)
			}
			if s := r.Summary(); len(s.Refused) != 1 {
				t.Errorf("refused %+v", s.Refused)
			}
		})
	}
}

// absent is a refusal because a parent was not there.
func absent(age float64) conflict.Report {
	report := blamed("alice", 0)
	report.Decision, report.Wait = conflict.Reject, nil
	report.Conflicts[0] = conflict.Conflict{
		Resource: conflict.Resource{CloudID: string(netID), Type: "simcloud_virtual_network"}, Class: "dependency",
		Fact: &conflict.Fact{What: "absent", Age: age},
	}
	return report
}

func TestTheAgeOfFactsIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	refusing(r, absent(95))
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "1m35s ago")
}

func TestWhatAReadFindsGoneIsPlaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.found = map[graph.NodeID]coordinator.Found{
		otherID: {Known: true, Node: graph.Node{Decl: uncertain("", 0).Self}},
		netID:   {Known: true, Node: graph.Node{Decl: graph.Decl{ID: netID, Kind: graph.Realm}}},
	}
	r.readable(func(int, string) (intercept.Object, error) { return gone(), nil })
	if err := r.refresh(t.Context(), uncertain("", 0).Self); err != nil {
		t.Fatal(err)
	}
	o := r.session.observed[0]
	if len(o.nodes) != 2 || o.nodes[0].ID != netID || o.nodes[1].ID != otherID || o.objects[0].Decl.ID != otherID || o.objects[0].Exists {
		t.Errorf("observed %+v", o)
	}
}

func TestPassedReservationsAreTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) {
		c.Override = Override{ID: "t9", By: "bob", Reason: "the quota was raised"}
	})
	seen := short20()
	seen.ID = "t9"
	r.session.explain = map[admission.TxID]conflict.Report{"t9": seen}
	r.Plan(replacing())
	refusing(r, short20())
	if err := r.Reserve(t.Context(), unordered()); err != nil {
		t.Fatal(err)
	}
	if p := r.Summary().Passed; len(p) != 1 || p[0].Mode != views.Overridden || p[0].Address != wholePlan {
		t.Errorf("passed %+v", p)
	}
}

// TestAWaitBeforeARefusalIsTold: who was in the way is told also when the
// refusal after it is based on a second look.
func TestAWaitBeforeARefusalIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(2)} })
	r.session.buckets = map[escrow.Key]coordinator.BucketStatus{bucket: {ReadAt: 1}}
	r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	r.Plan(replacing())
	nameless := short20()
	nameless.Conflicts[0].Holder = nil
	r.session.submit = func(_ context.Context, n int, onWait func(client.Waiting)) (Grant, error) {
		if n == 0 {
			onWait(foreign(1))
		}
		return nil, &client.RejectedError{Report: nameless}
	}
	wantRefusal(t, r.Reserve(t.Context(), unordered()), wholePlan)
	if n := len(r.session.requests()); n != 2 {
		t.Fatalf("%d requests; want a second look", n)
	}
	s := r.Summary()
	if len(s.InWay) != 1 || s.InWay[0] != "alice-7" || len(s.Waited) != 1 || !s.Waited[0].Refused {
		t.Errorf("summary %+v", s)
	}
}
