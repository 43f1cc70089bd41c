// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// draft is the reservation of a plan while it is put together.
type draft struct {
	gate    *Gatekeeper
	calls   []admission.Planned
	nodes   []graph.Decl
	placed  map[graph.NodeID]bool
	buckets []ruleengine.Bucket
	whole   bool
	// enforced is true when a call may be refused in its realm.
	enforced bool
	// observed are the calls in realms that are only observed.
	observed *draft
	// observing is true when there are no others.
	observing bool
}

// draft lowers all calls of a plan. Left out is what takes nothing, and what the
// rules cannot tell yet: each is judged by itself when its call comes. So is what
// works in a realm that is only observed, beside calls that are not.
func (g *Gatekeeper) draft(ctx context.Context, calls []lowering.PlannedCall, order lowering.Order) (*draft, error) {
	d := &draft{gate: g, placed: map[graph.NodeID]bool{}}
	d.observed = &draft{gate: g, placed: map[graph.NodeID]bool{}, observing: true}
	for _, c := range calls {
		if err := d.add(ctx, c); err != nil {
			return nil, err
		}
	}
	if len(d.calls) == 0 {
		d = d.observed
	}
	d.arrange(order)
	return d, nil
}

func (d *draft) add(ctx context.Context, c lowering.PlannedCall) error {
	op := c.Operation
	op.Session = d.gate.session.ID()
	lowered, err := d.gate.engine.Lower(ctx, op, d.gate.live)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.gate.log.InfoContext(ctx, "call left out of the reservation", "call", c.ID, "error", err)
		return nil
	case lowered.Logical:
		return nil
	}
	switch d.gate.modeOf(realmOf(lowered.Request)) {
	case Off:
		return nil
	case Observe:
		d.observed.take(c, lowered)
		return nil
	case Enforce:
		d.enforced = true
	}
	d.take(c, lowered)
	return nil
}

// take adds one call.
func (d *draft) take(c lowering.PlannedCall, lowered ruleengine.Lowered) {
	r := d.gate.complete(lowered.Request)
	d.place(r.Nodes)
	d.buckets = append(d.buckets, lowered.Buckets...)
	d.whole = d.whole || c.Provisioned
	d.calls = append(d.calls, admission.Planned{
		ID: c.ID, Self: r.Self, Action: r.Action, Address: c.Address,
		Locks: r.Locks, Guards: r.Guards, Effects: r.Effects, Group: c.Group,
	})
}

// place adds nodes, each once. Every list has parents before children.
func (d *draft) place(nodes []graph.Decl) {
	for _, n := range nodes {
		if !d.placed[n.ID] {
			d.placed[n.ID] = true
			d.nodes = append(d.nodes, n)
		}
	}
}

// arrange sorts the calls and orders them. Where provisioners run beside calls,
// or nobody can say what a call that belongs to others may have to wait for,
// the plan is held as a whole.
func (d *draft) arrange(order lowering.Order) {
	in := map[admission.CallID]bool{}
	for _, c := range d.calls {
		in[c.ID] = true
	}
	order = order.Among(func(id admission.CallID) bool { return in[id] })
	for i := range d.calls {
		d.calls[i].After = order.After(d.calls[i].ID)
	}
	slices.SortFunc(d.calls, func(a, b admission.Planned) int { return cmp.Compare(a.ID, b.ID) })
	d.whole = d.whole || d.grouped() && !order.Complete
}

func (d *draft) grouped() bool {
	return slices.ContainsFunc(d.calls, func(c admission.Planned) bool { return c.Group != "" })
}

// needed says whether the plan needs anything together.
func (d *draft) needed() bool {
	return d.whole || d.grouped() || slices.ContainsFunc(d.calls, func(c admission.Planned) bool { return len(c.Effects) > 0 })
}

func (d *draft) mode() Mode {
	switch {
	case d.observing:
		return Observe
	case d.enforced:
		return Enforce
	default:
		return Wait
	}
}

// request implements petition.lower; a plan is the same in each round.
func (d *draft) request(context.Context, int) (admission.Request, error) {
	return admission.Request{
		Session: admission.SessionID(d.gate.session.ID()), Action: admission.Reserve,
		Nodes: d.nodes, Calls: d.calls, Whole: d.whole,
	}, nil
}
