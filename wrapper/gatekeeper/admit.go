// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

const (
	// fineRounds is how often a stale call is lowered anew before it also
	// takes the lock on its parent, under which little can change.
	fineRounds = 2
	// maxRounds bounds the attempts for a graph that never rests.
	maxRounds = 12
)

var (
	// errImpatient is the cause of a wait that took longer than allowed.
	errImpatient = errors.New("waited as long as -weaver-wait allows")
	// errRestless: the graph changed during each of the attempts.
	errRestless = fmt.Errorf("the objects that the change depends on were changed by others during each of %d attempts", maxRounds)
)

// admittance is one call on its way through the gate.
type admittance struct {
	gate    *Gatekeeper
	op      ruleengine.Operation
	call    intercept.Call
	key     uint64
	watch   *wait
	request admission.Request
}

// Admit blocks until the call may be sent. It implements intercept.Gate.
func (g *Gatekeeper) Admit(ctx context.Context, call intercept.Call) (intercept.Permit, error) {
	g.first.Do(func() {
		if g.onFirst != nil {
			g.onFirst(ctx)
		}
	})
	a := &admittance{gate: g, call: call, op: g.operation(call)}
	if err := g.lost(); err != nil {
		return nil, g.refuse(a, err)
	}
	lowered, err := g.engine.Lower(ctx, a.op, g.live)
	if err != nil {
		return nil, g.refuse(a, fmt.Errorf("the rules cannot tell what the change means: %w", err))
	}
	if lowered.Logical {
		return free{}, nil
	}
	a.key = g.keys.Add(1)
	grant, err := a.submit(ctx, lowered)
	if err != nil {
		return nil, g.refuse(a, err)
	}
	return &permit{gate: g, grant: grant, op: a.op, call: call, self: a.request.Self}, nil
}

func (g *Gatekeeper) operation(call intercept.Call) ruleengine.Operation {
	address := ""
	if changes := g.planned(); changes != nil {
		address = changes.Match(call)
	}
	op := lowering.Operation(call, address)
	op.Session = g.session.ID()
	return op
}

// lost says why the session cannot be used any more, nil while it lives.
func (g *Gatekeeper) lost() error {
	select {
	case <-g.session.Done():
		return fmt.Errorf("%w: %w", client.ErrSessionEnded, g.session.Err())
	default:
		return nil
	}
}

// submit asks until there is an answer that is not "stale".
func (a *admittance) submit(ctx context.Context, lowered ruleengine.Lowered) (Grant, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := newPatience(a.gate.wait, func() { cancel(errImpatient) })
	defer patience.stop()
	a.watch = newWait(a.gate, a.name(), patience)
	defer a.watch.stop()

	var stale admission.TxID
	for round := range maxRounds {
		a.request = a.gate.complete(lowered.Request, a.key)
		if round >= fineRounds {
			coarsen(&a.request)
		}
		grant, err := a.gate.session.Submit(ctx, a.request, stale, a.watch.show)
		var again *client.StaleError
		switch {
		case err == nil:
			a.watch.admitted(grant.Tx())
			return grant, nil
		case errors.As(err, &again):
			stale = again.Tx
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), errImpatient) && !isRejected(err):
			return nil, errImpatient
		default:
			return nil, err
		}
		if lowered, err = a.gate.engine.Lower(ctx, a.op, a.gate.live); err != nil {
			return nil, fmt.Errorf("the rules cannot tell what the change means: %w", err)
		}
	}
	return nil, errRestless
}

func isRejected(err error) bool {
	var rejected *client.RejectedError
	return errors.As(err, &rejected)
}

// name is what the call is called in front of people.
func (a *admittance) name() string {
	if a.op.Address != "" {
		return a.op.Address
	}
	return "a " + a.op.Type
}

// complete adds to a lowered request what only the caller knows.
func (g *Gatekeeper) complete(r admission.Request, key uint64) admission.Request {
	r.Session, r.Key = admission.SessionID(g.session.ID()), key
	g.mu.Lock()
	life, known := g.lives[r.Self]
	g.mu.Unlock()
	if known {
		guards := append([]admission.Guard{}, r.Guards...)
		r.Guards = append(guards, admission.Guard{Kind: admission.SameLife, Node: r.Self, Value: life})
	}
	return r
}

// refuse notes why a call was not admitted, and puts it into the words that
// the user will read. The end of the caller's own context is no refusal.
func (g *Gatekeeper) refuse(a *admittance, err error) error {
	var rejected *client.RejectedError
	switch {
	case errors.As(err, &rejected):
		return g.reject(a, rejected.Report)
	case errors.Is(err, errImpatient):
		return g.giveUp(a)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		a.watch.abandoned()
		return err
	default:
		return g.fail(a, err)
	}
}

// coarsen adds the exclusive lock on the parent of the operation's own
// object, so that the neighbourhood rests while the plan is judged.
func coarsen(r *admission.Request) {
	parents := map[graph.NodeID]graph.NodeID{}
	for _, d := range r.Nodes {
		parents[d.ID] = d.Parent
	}
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

// lastReport is the report of the last decision, nil when there was none.
func (a *admittance) lastReport() *conflict.Report {
	if a.watch == nil {
		return nil
	}
	return a.watch.report()
}
