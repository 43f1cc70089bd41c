// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

func inMode(m Mode) func(*Config) {
	return func(c *Config) { c.Mode = func(graph.NodeID) Mode { return m } }
}

// refusing makes the session refuse everything with a report.
func refusing(r rig, report conflict.Report) {
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
		return nil, &client.RejectedError{Report: report}
	}
}

func TestTheModeIsThatOfTheRealm(t *testing.T) {
	t.Parallel()
	var asked []graph.NodeID
	r := newRig(t, func(c *Config) {
		c.Mode = func(realm graph.NodeID) Mode { asked = append(asked, realm); return Off }
	})
	permit, err := r.Admit(t.Context(), call(intercept.Create))
	if err != nil {
		t.Fatal(err)
	}
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded})
	if len(asked) != 1 || asked[0] != netID {
		t.Errorf("asked for the mode of %v", asked)
	}
	if len(r.session.requests()) != 0 {
		t.Error("a call was submitted although coordination is off")
	}
}

func TestOffDoesNotNeedTheRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{err: errors.New("no realm")}; inMode(Off)(c) })
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Error(err)
	}
}

func TestObservingNotesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	waits, refuses, full, hopeless := blamed("alice", 1), needed("theirs"), short20(), short20()
	waits.Decision, refuses.Decision, full.Decision, hopeless.Decision = "", "", "", ""
	full.Conflicts[0].Capacity.Hopeless = false
	full.Conflicts[0].Fact = &conflict.Fact{What: "use", Age: 4}
	for name, tt := range map[string]struct {
		grant   *fakeGrant
		passed  int
		refused bool
	}{
		"nothing":     {&fakeGrant{}, 0, false},
		"a wait":      {&fakeGrant{passed: &admission.Pass{Mode: "observe"}, report: &waits}, 1, false},
		"a shortage":  {&fakeGrant{passed: &admission.Pass{Mode: "observe"}, report: &full}, 1, false},
		"a hopeless":  {&fakeGrant{passed: &admission.Pass{Mode: "observe"}, report: &hopeless}, 1, true},
		"a rejection": {&fakeGrant{passed: &admission.Pass{Mode: "observe"}, report: &refuses}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, inMode(Observe))
			r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return tt.grant, nil }
			if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
				t.Fatal(err)
			}
			if !r.session.requests()[0].request.Advisory {
				t.Error("the request may be delayed")
			}
			passed := r.Summary().Passed
			if len(passed) != tt.passed || len(r.view.passed) != tt.passed {
				t.Fatalf("passed %+v", passed)
			}
			for _, p := range passed {
				if p.Mode != views.Observing || p.Refused != tt.refused || p.Report == nil || p.Address != "simcloud_subnet.b" {
					t.Errorf("told as %+v", p)
				}
			}
		})
	}
}

func TestWaitingGoesOnAfterTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = 10 * time.Millisecond; inMode(Wait)(c) })
	admit := make(chan *fakeGrant, 1)
	r.session.pass = func(_ admission.TxID, p admission.Pass) (Grant, error) {
		g := &fakeGrant{passed: &p}
		admit <- g
		return g, nil
	}
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		select {
		case g := <-admit:
			return g, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if got := r.session.passes(); len(got) != 1 || got[0].Mode != "wait" || got[0].Tx != "t1" {
		t.Errorf("passed %+v", got)
	}
	s := r.Summary()
	if len(s.Passed) != 1 || s.Passed[0].Mode != views.WaitOnly || s.Passed[0].Report == nil || len(s.Refused) != 0 {
		t.Errorf("summary %+v", s)
	}
}

func TestWaitingThatCannotPassGoesOnAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = time.Millisecond; inMode(Wait)(c) })
	r.session.pass = func(admission.TxID, admission.Pass) (Grant, error) { return nil, client.ErrUnreachable }
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if p := r.Summary().Passed; len(p) != 1 || p[0].Mode != views.Offline {
		t.Errorf("passed %+v", p)
	}
}

// A decision that comes while the pass is on its way is the decision.
func TestAGrantOvertakesThePass(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Wait = time.Millisecond; inMode(Wait)(c) })
	asked := make(chan struct{})
	r.session.pass = func(admission.TxID, admission.Pass) (Grant, error) {
		close(asked)
		return nil, fmt.Errorf("t1: %w", admission.ErrStatus)
	}
	r.session.submit = func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		onWait(foreign(1))
		<-asked
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
			return &fakeGrant{}, nil
		}
	}
	if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if s := r.Summary(); len(s.Passed) != 0 || len(s.Waited) != 1 || s.Waited[0].Refused {
		t.Errorf("summary %+v", s)
	}
}

func TestWhoOnlyWaitsIsNotRefused(t *testing.T) {
	t.Parallel()
	report := blamed("alice", 0)
	report.Decision = conflict.Reject
	r := newRig(t, inMode(Wait))
	refusing(r, report)
	permit, err := r.Admit(t.Context(), call(intercept.Delete))
	if err != nil {
		t.Fatal(err)
	}
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.session.passes(); len(got) != 1 || got[0].Mode != "wait" || got[0].Tx != "t1" {
		t.Errorf("passed %+v", got)
	}
	if p := r.Summary().Passed; len(p) != 1 || !p[0].Refused {
		t.Errorf("told as %+v", p)
	}
}

func TestALenientModeIsNotStoppedByRules(t *testing.T) {
	t.Parallel()
	for _, m := range []Mode{Observe, Wait} {
		r := newRig(t, func(c *Config) { c.Engine = fakeEngine{err: errors.New("no realm")}; inMode(m)(c) })
		if _, err := r.Admit(t.Context(), call(intercept.Create)); err != nil {
			t.Fatal(err)
		}
		if p := r.Summary().Passed; len(p) != 1 || !strings.Contains(p[0].Reason, "no realm") {
			t.Errorf("%s: passed %+v", m, p)
		}
	}
}

func TestAnUnknownModeEnforces(t *testing.T) {
	t.Parallel()
	r := newRig(t, inMode(""))
	refusing(r, needed("theirs"))
	_, err := r.Admit(t.Context(), call(intercept.Delete))
	wantRefusal(t, err, "simcloud_subnet.b")
}
