// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// theState is that of the tests.
func theState() State {
	return State{Origin: "local:desk:/home/~bob/net/terraform.tfstate", Folder: "infra/net", Workspace: "default"}
}

// busyState is what the coordinator says while alice works on it.
func busyState(tx string, decision conflict.Decision) conflict.Report {
	node := conflict.StateNode(theState().Origin)
	return conflict.Report{
		ID: tx, Address: theState().Name(), Action: "read", Decision: decision,
		Object:    &conflict.Resource{CloudID: string(node)},
		Requester: conflict.Party{Session: "bob-1", Actor: "bob"},
		Conflicts: []conflict.Conflict{{
			Resource: conflict.Resource{CloudID: string(node)}, ModeHeld: "X", ModeWanted: "X",
			Holder: &conflict.Holder{
				Session: "alice-1", Actor: "alice", Objective: "open the shop", State: conflict.Admitted, HeldFor: 40, Phase: "awaiting approval",
				RunURL: "https://ci.example/7",
			},
		}},
		Wait: &conflict.WaitInfo{Position: 1},
	}
}

// stateGate is a gatekeeper of a session.
func stateGate(t *testing.T, session *fakeSession) *Gatekeeper {
	t.Helper()
	g := New(Config{Session: session, Engine: fakeEngine{}, View: newRecorder(), Wait: time.Hour, Repeat: time.Hour})
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

func TestAStateIsHeldUntilItIsLeft(t *testing.T) {
	t.Parallel()
	grant := &fakeGrant{}
	session := newFakeSession()
	session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return grant, nil }
	g := stateGate(t, session)
	if err := g.EnterState(t.Context(), theState()); err != nil {
		t.Fatal(err)
	}
	if len(session.submitted) != 1 {
		t.Fatalf("%d requests", len(session.submitted))
	}
	r := session.submitted[0].request
	node := graph.NodeID("terraform-state/local:desk:/home/%7Ebob/net/terraform.tfstate")
	if r.Self != node || r.Locks.Mode(node) != mode.X || r.Locks.Mode(conflict.States) != mode.IX || r.Action != admission.Read {
		t.Errorf("asked for %v with %v", r.Self, r.Locks)
	}
	if g.Submitted() != 0 {
		t.Error("the turn counts as a change")
	}
	if grant.withdrawn {
		t.Error("the state was given back at once")
	}
	g.LeaveState(t.Context())
	g.LeaveState(t.Context())
	if !grant.withdrawn {
		t.Error("the state was not given back")
	}
}

func TestWaitingForAStateSaysForWhom(t *testing.T) {
	t.Parallel()
	told := 0
	session := newFakeSession()
	session.submit = func(_ context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
		for range 2 {
			onWait(client.Waiting{Tx: "t1", Foreign: true, Report: busyState("t1", conflict.Wait)})
		}
		return &fakeGrant{}, nil
	}
	g := stateGate(t, session)
	state := theState()
	state.Waits = func() { told++ }
	if err := g.EnterState(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if told != 1 {
		t.Errorf("told %d times that it waits", told)
	}
	if s := g.Summary(); len(s.Waited) != 1 || s.Waited[0].Address != theState().Name() || s.Waited[0].Refused {
		t.Errorf("summary %+v", s.Waited)
	}
}

func TestAStateThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wait   time.Duration
		submit func(ctx context.Context, n int, onWait func(client.Waiting)) (Grant, error)
		want   []string
	}{
		"at once": {
			submit: func(context.Context, int, func(client.Waiting)) (Grant, error) {
				return nil, &client.RejectedError{Report: busyState("t1", conflict.Reject)}
			},
			want: []string{"in use by another run", "The state of infra/net (workspace default) is being worked on by alice", "'open the shop'", "who is awaiting approval", "Nothing was planned"},
		},
		"in the end": {
			wait: 10 * time.Millisecond,
			submit: func(ctx context.Context, _ int, onWait func(client.Waiting)) (Grant, error) {
				onWait(client.Waiting{Tx: "t1", Foreign: true, Report: busyState("t1", conflict.Wait)})
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			want: []string{"waited too long", "is being worked on by alice", "https://ci.example/7", "as long as -weaver-wait allows", "tfweaver why t1"},
		},
		"by nobody": {
			submit: func(context.Context, int, func(client.Waiting)) (Grant, error) { return nil, client.ErrUnreachable },
			want:   []string{"no answer from the coordinator", "Nothing was planned", "when the coordinator is back"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := newFakeSession()
			session.submit = tt.submit
			g := stateGate(t, session)
			g.config.Wait = tt.wait
			var refusal *intercept.Refusal
			if err := g.EnterState(t.Context(), theState()); !errors.As(err, &refusal) {
				t.Fatalf("%v", err)
			}
			for _, want := range tt.want {
				if text := refusal.Summary + "\n" + refusal.Detail; !strings.Contains(text, want) {
					t.Errorf("lacks %q:\n%s", want, text)
				}
			}
			if s := g.Summary(); len(s.Refused) != 1 {
				t.Errorf("the summary lacks it: %+v", s)
			}
		})
	}
}

func TestLenientModesEnterAnyState(t *testing.T) {
	t.Parallel()
	for m, asked := range map[Mode]int{Off: 0, Observe: 1, Wait: 1} {
		session := newFakeSession()
		session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return nil, client.ErrUnreachable }
		g := stateGate(t, session)
		g.config.Mode = func(graph.NodeID) Mode { return m }
		if err := g.EnterState(t.Context(), theState()); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if len(session.submitted) != asked || asked == 1 && session.submitted[0].request.Advisory != (m == Observe) {
			t.Errorf("%s: %+v", m, session.submitted)
		}
	}
}

func TestInterruptedBeforeTheTurn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	session := newFakeSession()
	session.submit = func(ctx context.Context, _ int, _ func(client.Waiting)) (Grant, error) {
		cancel()
		return nil, ctx.Err()
	}
	g := stateGate(t, session)
	var refusal *intercept.Refusal
	if err := g.EnterState(ctx, theState()); !errors.Is(err, context.Canceled) || errors.As(err, &refusal) {
		t.Errorf("%v", err)
	}
	if s := g.Summary(); len(s.Refused) != 0 {
		t.Errorf("who leaves is no refusal: %+v", s)
	}
}
