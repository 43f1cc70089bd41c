// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"io"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// reserve asks for what the approved plan needs together, before the CLI is
// started to apply it, and waits for it as a change would. ok is false when the
// plan must not be applied. A signal ends the waiting.
func (r *run) reserve(ctx context.Context, plan *savedPlan, path string) (ok bool, code int, err error) {
	ctx, stop := r.app.interruptible(ctx)
	defer stop()
	err = r.gate.Reserve(ctx, r.order(ctx, plan, path))
	if cause := context.Cause(ctx); cause != nil {
		return false, 0, cause
	}
	var refusal *intercept.Refusal
	if errors.As(err, &refusal) {
		r.view.Problem(views.Problem{Summary: refusal.Summary, Detail: refusal.Detail})
		return false, r.refused(), nil
	}
	return err == nil, ExitError, err
}

// order is in which order the calls of a plan run, where others have to know.
// The CLI is asked for it, which takes it about as long as to start.
func (r *run) order(ctx context.Context, plan *savedPlan, path string) lowering.Order {
	if !plan.NeedsOrder(nil) && !r.trades(ctx, plan) {
		return plan.WithoutOrder("nobody needs to know")
	}
	p := r.process()
	p.Env = r.halfEnv().Without(arguments.ArgsVariable("graph"))
	p.Signals = nil // a signal is for what the user waits for
	var order lowering.Order
	err := p.Graph(ctx, r.binary.Product, r.inv.Global, r.variables(), path, func(dot io.Reader) error {
		order = plan.Order(dot)
		return nil
	})
	if err != nil {
		r.log.WarnContext(ctx, "order of the plan not known", "error", err)
		return plan.WithoutOrder(err.Error())
	}
	if !order.Complete {
		r.log.WarnContext(ctx, "order of the plan not understood", "why", order.Why)
	}
	return order
}

// variables are the options that set variables.
func (r *run) variables() []string {
	var args []string
	for _, f := range r.opts.Flags {
		if f.Name == "var" || f.Name == "var-file" {
			args = append(args, f.Raw...)
		}
	}
	return args
}

// trades says whether a plan both takes and gives back capacity. Then the most
// that it needs at a time depends on the order; otherwise it is the sum.
func (r *run) trades(ctx context.Context, plan *savedPlan) bool {
	takes, frees := false, false
	for _, op := range plan.Operations() {
		lowered, err := r.engine.Lower(ctx, op, unknownGraph{})
		if err != nil {
			continue // its call will be judged by itself
		}
		for _, effect := range lowered.Request.Effects {
			takes, frees = takes || effect.Amount > 0, frees || effect.Amount < 0
		}
	}
	return takes && frees
}

// unknownGraph knows nothing: what a call does to capacity is said by its values
// alone.
type unknownGraph struct{}

// Neighbours implements ruleengine.Graph.
func (unknownGraph) Neighbours(context.Context, graph.NodeID, graph.EdgeKind, bool) ([]graph.Decl, uint64, bool, error) {
	return nil, 0, false, nil
}

var _ ruleengine.Graph = unknownGraph{}
