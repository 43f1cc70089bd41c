// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// wholePlan is what a reservation is called in front of people.
const wholePlan = "The plan"

// reservation is what an approved plan needs together: it was granted before
// the first call.
type reservation struct {
	grant Grant
	// pass is set when what the plan needs was not there, and it goes on all the
	// same.
	pass *admission.Pass
	// calls are those that it foresees.
	calls map[admission.CallID]bool
	// refused is why there is none; no call of the plan is sent then.
	refused *intercept.Refusal
}

// Reserve asks for what the approved plan needs together, before its first call
// is sent: capacity, and that the calls of one intent stay together. It waits
// as a call does. A plan without either needs nothing. An *intercept.Refusal
// says, in the words for the user, that the plan must not be applied; no call
// of it is admitted then. Without a plan Reserve does nothing.
//
// The order is that of the calls of the plan; see lowering.Plan.Order.
func (g *Gatekeeper) Reserve(ctx context.Context, order lowering.Order) error {
	changes := g.planned()
	if changes == nil {
		return nil
	}
	g.withdraw(ctx)
	if err := g.lost(); err != nil {
		return g.unreserved(ctx, &petition{gate: g, name: wholePlan}, err)
	}
	d, err := g.draft(ctx, changes.Calls(), order)
	if err != nil || !d.needed() {
		return err
	}
	g.measure(ctx, d.buckets)
	p := &petition{gate: g, name: wholePlan, mode: d.mode(), buckets: d.buckets, lower: d.request}
	grant, err := p.submit(ctx)
	if err != nil {
		return g.unreserved(ctx, p, err)
	}
	if d.observing && grant.Passed() != nil {
		// That it would have waited or been refused is told. Each call is judged
		// by itself.
		if err := grant.Withdraw(ctx); err != nil {
			// It holds nothing, and observing stops no run.
			g.log.WarnContext(ctx, "observed reservation not given back; it ends with the session", "tx", grant.Tx(), "error", err)
		}
		return nil
	}
	r := &reservation{grant: grant, pass: grant.Passed(), calls: map[admission.CallID]bool{}}
	for _, c := range p.request.Calls {
		r.calls[c.ID] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reservation = r
	return nil
}

// unreserved is what becomes of a plan that could not be reserved. Where
// nothing is refused its calls are admitted one by one.
func (g *Gatekeeper) unreserved(ctx context.Context, p *petition, err error) error {
	a := &admittance{gate: g, petition: p, mode: p.mode, whole: true}
	_, err = a.failed(ctx, err)
	var refusal *intercept.Refusal
	if errors.As(err, &refusal) {
		g.mu.Lock()
		g.reservation = &reservation{refused: refusal}
		g.mu.Unlock()
	}
	return err
}

// refusedPlan is the refusal of the whole plan, nil when there is none.
func (g *Gatekeeper) refusedPlan() *intercept.Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reservation == nil {
		return nil
	}
	return g.reservation.refused
}

// ofPlan is the refusal of a call because the whole plan was refused. Terraform
// shows it with each call, and drops the address of a delete.
func ofPlan(refused *intercept.Refusal, name string) *intercept.Refusal {
	return &intercept.Refusal{
		Summary: refused.Summary,
		Detail:  name + " was not sent to the provider, like all of its plan.\n" + refused.Detail,
	}
}

// reserved says whether the plan's reservation foresees a call.
func (g *Gatekeeper) reserved(call admission.CallID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reservation != nil && g.reservation.calls[call]
}

// passedPlan is how the plan goes on whose capacity was not there; nil for a
// plan that has it.
func (g *Gatekeeper) passedPlan(call admission.CallID) *admission.Pass {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reservation == nil || !g.reservation.calls[call] {
		return nil
	}
	return g.reservation.pass
}

// withPlan names the plan's reservation in the request of one of its calls.
func (g *Gatekeeper) withPlan(r *admission.Request, call admission.CallID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reservation == nil || !g.reservation.calls[call] {
		return
	}
	r.Plan, r.Call = g.reservation.grant.Tx(), call
}

// withdraw gives the reservations back.
func (g *Gatekeeper) withdraw(ctx context.Context) {
	g.mu.Lock()
	grants := g.former
	if r := g.reservation; r != nil && r.grant != nil {
		grants = append(grants, r.grant)
	}
	g.reservation, g.former = nil, nil
	g.mu.Unlock()
	if g.lost() != nil {
		return // they ended with the session
	}
	for _, grant := range grants {
		if err := grant.Withdraw(ctx); err != nil && !errors.Is(err, client.ErrSessionEnded) {
			g.log.WarnContext(ctx, "reservation not given back; it ends with the session", "tx", grant.Tx(), "error", err)
		}
	}
}
