// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

const otherID = graph.NodeID("/net/other")

// uncertain is alice's lost call on /net/other.
func uncertain(action admission.Action, after time.Duration) coordinator.Unsettled {
	return coordinator.Unsettled{
		Tx: "t5", Self: graph.Decl{ID: otherID, Parent: netID, Kind: graph.Resource, Type: "simcloud_subnet"},
		Address: "simcloud_subnet.a", Action: action, Session: "alice-7", Actor: "alice", Objective: "net", After: after,
	}
}

// blocked starts a call that waits for u until the settlement is accepted.
func blocked(t *testing.T, r rig, u coordinator.Unsettled) chan error {
	t.Helper()
	r.session.unsettled = []coordinator.Unsettled{u}
	free := make(chan struct{})
	inner := r.session.settle
	r.session.settle = func(n int, s admission.Settle) error {
		if inner != nil {
			if err := inner(n, s); err != nil {
				return err
			}
		}
		close(free)
		return nil
	}
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		select {
		case <-free:
			return &fakeGrant{}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.Admit(t.Context(), call(intercept.Create))
		done <- err
	}()
	return done
}

func TestABlockedCallSettlesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.session.index, r.session.at = 42, 1000
	reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	if err := <-blocked(t, r, uncertain(admission.Create, -1)); err != nil {
		t.Fatal(err)
	}
	want := []admission.Settle{{Tx: "t5", Began: 42, BeganAt: 1000, Exists: true, Terminal: true, Digest: "without secret"}}
	if diff := cmp.Diff(want, r.session.settled); diff != "" {
		t.Errorf("settled (-want +got):\n%s", diff)
	}
	if n := reader.reads(); n != 1 || reader.asked[0] != string(otherID) {
		t.Errorf("read %v", reader.asked)
	}
	r.view.until(t, func() bool { return len(r.view.settled) == 1 })
	if s := r.view.settled[0]; !s.Exists || s.Tx != "t5" || s.Address != "simcloud_subnet.a" || !strings.Contains(s.Whose, "alice") {
		t.Errorf("told as %+v", s)
	}
	if len(r.view.reading) != 1 || len(r.Summary().Settled) != 1 {
		t.Errorf("shown %d times, summary %+v", len(r.view.reading), r.Summary())
	}
}

func TestAnObjectInProgressSettlesNothingYet(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	r := newRig(t, func(c *Config) {
		c.Engine = fakeEngine{busy: func() bool { return looks.Add(1) < 3 }}
	})
	r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	if err := <-blocked(t, r, uncertain(admission.Create, -1)); err != nil {
		t.Fatal(err)
	}
	if n := len(r.session.settled); n != 1 || looks.Load() != 3 {
		t.Errorf("settled %d times after %d looks", n, looks.Load())
	}
}

func TestAbsenceIsToldWhenItMayProveSomething(t *testing.T) {
	t.Parallel()
	const delay = 1200 * time.Millisecond
	for name, tt := range map[string]struct {
		after  time.Duration
		refuse int // how many settlements are refused, each with the delay
	}{
		"the delay is known":     {delay, 0},
		"the coordinator tells":  {-1, 1},
		"it may be told at once": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.readable(func(int, string) (intercept.Object, error) { return gone(), nil })
			r.session.settle = func(n int, _ admission.Settle) error {
				if n < tt.refuse {
					return fmt.Errorf("t5: %w", &client.UnsettledError{Reason: "its sender may live", After: delay})
				}
				return nil
			}
			begun := time.Now()
			if err := <-blocked(t, r, uncertain(admission.Create, tt.after)); err != nil {
				t.Fatal(err)
			}
			if early := time.Since(begun) < delay; early != (tt.after == 0) {
				t.Errorf("settled after %s", time.Since(begun))
			}
			if n := len(r.session.settled); n != tt.refuse+1 {
				t.Errorf("told %d times", n)
			}
			if last := r.session.settled[len(r.session.settled)-1]; last.Exists || !last.Terminal {
				t.Errorf("told %+v", last)
			}
		})
	}
}

func TestPresenceIsToldAlthoughAbsenceWouldBeTooEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.readable(func(n int, id string) (intercept.Object, error) {
		if n == 0 {
			return gone(), nil
		}
		return there(id), nil
	})
	if err := <-blocked(t, r, uncertain(admission.Create, time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s := r.session.settled; len(s) != 1 || !s[0].Exists {
		t.Errorf("told %+v", s)
	}
}

// What was there before an update or a delete proves nothing about it.
func TestPresenceBeforeTheEndProvesNothingOfADelete(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	ctx, stop := context.WithCancel(t.Context())
	q := &inquiry{gate: r.Gatekeeper, call: uncertain(admission.Delete, time.Hour)}
	done := make(chan struct{})
	go func() { q.run(ctx); close(done) }()
	for reader.reads() < 3 {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	if n := len(r.session.settled); n != 0 {
		t.Errorf("told %d times", n)
	}
}

func TestWhoCannotReadSaysWhyOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		engine fakeEngine
		answer func(int, string) (intercept.Object, error)
		want   string
	}{
		"an id of the cloud's": {
			fakeEngine{unreadable: &ruleengine.UnreadableError{Node: otherID, Reason: "the cloud chooses its id"}}, nil, "the cloud chooses its id",
		},
		"reads that fail": {fakeEngine{}, func(int, string) (intercept.Object, error) { return intercept.Object{}, errors.New("forbidden") }, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Engine = tt.engine })
			r.readable(tt.answer)
			q := r.settler.inquiry(uncertain(admission.Create, 0))
			for range 2 * patientReads {
				if q.settled(t.Context()) {
					t.Error("it counts as settled")
				}
			}
			if len(r.view.stuck) != 1 {
				t.Fatalf("told %d times", len(r.view.stuck))
			}
			if got := r.view.stuck[0]; got.Reason == "" || !strings.Contains(got.Reason, tt.want) || strings.Contains(got.Reason, "cannot be read back") {
				t.Errorf("told as %+v", got)
			}
			if len(r.session.settled) != 0 {
				t.Errorf("settled %+v", r.session.settled)
			}
		})
	}
}

func TestAProviderMayBeConfiguredLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	r.configs = map[string][]cty.Value{}
	r.settler.begin(uncertain(admission.Create, 0))
	r.view.until(t, func() bool { return len(r.view.stuck) == 1 })
	if len(r.view.reading) != 0 || reader.reads() != 0 {
		t.Errorf("read %v with no provider", reader.asked)
	}
	r.Configured(t.Context(), "p", object("config"))
	r.view.until(t, func() bool { return len(r.view.settled) == 1 })
	if len(r.view.stuck) != 1 {
		t.Errorf("told %d times that it cannot be read", len(r.view.stuck))
	}
}

// Another object under the same import id is no proof of anything.
func TestAnotherObjectSettlesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.readable(func(int, string) (intercept.Object, error) { return there("/elsewhere"), nil })
	r.settler.begin(uncertain(admission.Create, 0))
	r.view.until(t, func() bool { return len(r.view.stuck) == 1 })
	r.Close(t.Context())
	if len(r.session.settled) != 0 {
		t.Errorf("settled %+v", r.session.settled)
	}
}

func TestSomebodyElseMayBeFaster(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	reader := r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	r.session.settle = func(int, admission.Settle) error { return admission.ErrStatus }
	(&inquiry{gate: r.Gatekeeper, call: uncertain(admission.Create, 0)}).run(t.Context())
	if n := reader.reads(); n != 1 || len(r.view.settled) != 0 {
		t.Errorf("%d reads, told %+v", n, r.view.settled)
	}
}

func TestAForecastLooksIntoWhatHoldsItUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	report := blamed("alice", 1)
	report.Conflicts[0].Holder.State, report.Conflicts[0].Holder.Tx = conflict.Uncertain, "t5"
	r.session.explain = map[admission.TxID]conflict.Report{"t5": {
		ID: "t5", Status: string(admission.Uncertain), Action: "create", Address: "simcloud_subnet.a",
		Object: &conflict.Resource{CloudID: string(otherID), Type: "simcloud_subnet"}, Requester: conflict.Party{Session: "alice-7", Actor: "alice"},
	}}
	r.session.found = map[graph.NodeID]coordinator.Found{
		otherID: {Known: true, Node: graph.Node{Decl: uncertain("", 0).Self}},
		netID:   {Known: true, Node: graph.Node{Decl: graph.Decl{ID: netID, Kind: graph.Realm}}},
	}
	r.Plan(plan("simcloud_subnet"))
	r.session.prospects = func([]admission.Request) []client.Prospect {
		return []client.Prospect{{Decision: "wait", Report: &report}}
	}
	if _, err := r.Forecast(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	r.view.until(t, func() bool { return len(r.view.settled) == 1 })
	if s := r.session.settled; len(s) != 1 || s[0].Tx != "t5" || !s[0].Exists {
		t.Errorf("settled %+v", s)
	}
}
