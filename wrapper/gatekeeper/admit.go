// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// admittance is one call on its way through the gate.
type admittance struct {
	gate *Gatekeeper
	op   ruleengine.Operation
	call intercept.Call
	// match says which call of the plan this one is.
	match   lowering.Match
	lowered ruleengine.Lowered
	mode    Mode
	// whole is true when it is no call, but the reservation of the plan.
	whole bool
	// petition is nil as long as nobody was asked.
	petition *petition
}

// Admit blocks until the call may be sent. It implements intercept.Gate.
func (g *Gatekeeper) Admit(ctx context.Context, call intercept.Call) (intercept.Permit, error) {
	g.first.Do(func() {
		if g.onFirst != nil {
			g.onFirst(ctx)
		}
	})
	a := g.admittance(call)
	if refusal := g.refusedPlan(); refusal != nil {
		return nil, ofPlan(refusal, a.name())
	}
	err := a.lower(ctx)
	if a.mode == Off || err == nil && a.lowered.Logical {
		return a.free(), nil
	}
	if err != nil {
		return a.failed(ctx, err)
	}
	a.petition = &petition{gate: g, name: a.name(), taken: a.match.Address, mode: a.mode, buckets: a.lowered.Buckets, lower: a.request}
	if !g.reserved(a.match.ID) {
		g.measure(ctx, a.lowered.Buckets)
	}
	grant, err := a.admit(ctx)
	if err != nil {
		return a.failed(ctx, err)
	}
	return &permit{
		gate: g, grant: grant, op: a.op, call: call, match: a.match, label: a.name(), request: a.petition.request,
		mode: a.mode, ruled: a.lowered.Ruled,
	}, nil
}

func (g *Gatekeeper) admittance(call intercept.Call) *admittance {
	a := &admittance{gate: g, call: call}
	if changes := g.planned(); changes != nil {
		a.match = changes.MatchCall(call)
	}
	// The address also makes the names of objects that have none yet: it is that
	// of one call, even where it is not certain of which.
	a.op = lowering.Operation(call, a.match.Address)
	a.op.Session = g.session.ID()
	return a
}

// lower finds out what the call means, and in which mode it is judged. Without
// a session the live graph cannot be asked, but the realm can be told.
func (a *admittance) lower(ctx context.Context) (err error) {
	lost := a.gate.lost()
	var live ruleengine.Graph
	if lost == nil {
		live = a.gate.live
	}
	a.lowered, err = a.gate.engine.Lower(ctx, a.op, live)
	if err != nil && lost == nil {
		err = rulesFail(err)
	}
	a.mode = a.gate.modeOf(realmOf(a.lowered.Request))
	if lost != nil && !a.lowered.Logical {
		return lost
	}
	return err
}

func rulesFail(err error) error {
	return fmt.Errorf("the rules cannot tell what the change means: %w", err)
}

// lost says why the session cannot be used any more, nil while it lives.
func (g *Gatekeeper) lost() error {
	select {
	case <-g.session.Done():
		if err := g.session.Err(); errors.Is(err, client.ErrSessionEnded) {
			return err // it says so itself
		}
		return fmt.Errorf("%w: %w", client.ErrSessionEnded, g.session.Err())
	default:
		return nil
	}
}

// request is what is asked of the coordinator in a round; the first one asks
// what was lowered already.
func (a *admittance) request(ctx context.Context, round int) (admission.Request, error) {
	if round > 0 {
		lowered, err := a.gate.engine.Lower(ctx, a.op, a.gate.live)
		if err != nil {
			return admission.Request{}, rulesFail(err)
		}
		a.lowered = lowered
	}
	r := a.gate.complete(a.lowered.Request)
	r.Address = a.match.Name()
	a.gate.withPlan(&r, a.match.ID)
	if round >= fineRounds {
		coarsen(&r)
	}
	return r, nil
}

// free is the permit for a call that the coordinator has no part in.
func (a *admittance) free() free { return free{gate: a.gate, match: a.match} }

// name is what the call is called in front of people.
func (a *admittance) name() string {
	if a.whole {
		return wholePlan
	}
	return nameOf(a.match, a.call)
}

// complete adds to a lowered request what only the caller knows.
func (g *Gatekeeper) complete(r admission.Request) admission.Request {
	r.Session = admission.SessionID(g.session.ID())
	g.mu.Lock()
	life, known := g.lives[r.Self]
	made := g.madeAt
	g.mu.Unlock()
	if known {
		r.Guards = append(slices.Clone(r.Guards), admission.Guard{Kind: admission.SameLife, Node: r.Self, Value: life})
	}
	if made != 0 && (r.Action == admission.Update || r.Action == admission.Delete) {
		r.Guards = append(slices.Clone(r.Guards), admission.Guard{Kind: admission.PlannedAt, Node: r.Self, Value: made})
	}
	return r
}

// failed is what becomes of a call that was not admitted: it goes on without,
// where the mode does not allow a refusal or the coordinator is lost, or the
// reason is put into the words that the user will read. The end of the caller's
// own context is no refusal.
func (a *admittance) failed(ctx context.Context, err error) (intercept.Permit, error) {
	var rejected *client.RejectedError
	switch {
	case ctx.Err() != nil && !errors.As(err, &rejected):
		a.watch().abandoned()
		return nil, err
	case a.mode.lenient(), a.gate.mayGoAlone(a.mode, err):
		a.watch().abandoned()
		a.gate.goAlone(a.name(), err)
		return a.free(), nil
	case errors.As(err, &rejected):
		return nil, a.gate.reject(a, rejected.Report)
	case errors.Is(err, errImpatient):
		return nil, a.gate.giveUp(a)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		a.watch().abandoned()
		return nil, err
	default:
		return nil, a.gate.fail(a, err)
	}
}

// watch is that of the call's last wait, nil when there was none.
func (a *admittance) watch() *wait {
	if a.petition == nil {
		return nil
	}
	return a.petition.watch
}

// coarsen adds the exclusive lock on the parent of the operation's own
// object, so that the neighbourhood rests while the plan is judged.
func coarsen(r *admission.Request) {
	parents := parentsOf(*r)
	parent := parents[r.Self]
	if parent == "" {
		return
	}
	wants := append(append(lock.Plan{}, r.Locks...), lock.Want{
		Node: parent, Mode: mode.X, Relation: lock.Ancestor, Rule: "tfweaver#stale", Class: "lost_update",
	})
	r.Locks = lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) {
		up := parents[id]
		return up, up != ""
	})
}
