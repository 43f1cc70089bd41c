// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// free is the permit for a call that touches nothing but Terraform's state.
type free struct{}

// Start does nothing.
func (free) Start(context.Context) error { return nil }

// Done does nothing.
func (free) Done(context.Context, intercept.Outcome) {}

// permit is the right to send one call.
type permit struct {
	gate  *Gatekeeper
	grant Grant
	op    ruleengine.Operation
	call  intercept.Call
	self  graph.NodeID

	mu      sync.Mutex
	started bool
}

// Start journals that the call is about to be sent.
func (p *permit) Start(ctx context.Context) error {
	// An answer that got lost may still have started the call.
	p.mu.Lock()
	p.started = true
	p.mu.Unlock()
	if err := p.grant.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		a := &admittance{gate: p.gate, call: p.call, op: p.op}
		return p.gate.fail(a, fmt.Errorf("the coordinator did not let the admitted call start: %w", err))
	}
	return nil
}

// Done reports the outcome.
func (p *permit) Done(ctx context.Context, outcome intercept.Outcome) {
	p.mu.Lock()
	started := p.started
	p.mu.Unlock()
	var err error
	if outcome.Result == intercept.NotSent && !started {
		err = p.grant.Withdraw(ctx)
	} else {
		err = p.grant.Complete(ctx, p.outcome(outcome))
	}
	if outcome.Result == intercept.Succeeded && p.op.Action == admission.Create {
		p.gate.forgetLife(p.self)
	}
	if err != nil {
		// The coordinator will hold the call for uncertain, which is safe.
		p.gate.log.WarnContext(ctx, "outcome not recorded", "address", p.op.Address, "tx", p.grant.Tx(), "error", err)
		if outcome.Result != intercept.NotSent {
			p.lost(false)
		}
	}
}

// lost notes a call whose outcome nobody knows.
func (p *permit) lost(stopped bool) {
	p.gate.ledger.lost(views.Uncertain{Address: p.name(), Tx: string(p.grant.Tx()), GaveUp: stopped})
}

func (p *permit) name() string {
	if p.op.Address != "" {
		return p.op.Address
	}
	return "a " + p.op.Type
}

func (p *permit) outcome(o intercept.Outcome) client.Outcome {
	out := client.Outcome{Exists: exists(o.NewState)}
	result := o.Result
	stopped := result == intercept.Failed && gaveUp(o.Diagnostics)
	if stopped {
		result = intercept.Unknown
	}
	switch result {
	case intercept.Succeeded:
		out.Result = admission.Succeeded
	case intercept.Failed:
		out.Result = admission.Errored
	case intercept.NotSent:
		out.Result = admission.NotSent
		// Nothing was changed, so what there was is still there.
		out.Exists = p.op.Action != admission.Create
		return out
	default:
		out.Result = admission.Lost
		p.lost(stopped)
		return out
	}
	if out.Exists {
		p.describe(&out, o.NewState)
	}
	return out
}

// gaveUp says whether a provider's error only means that it stopped waiting,
// because it was interrupted or ran out of time: the cloud may have accepted
// the call and still be at it.
func gaveUp(diagnostics []intercept.Diagnostic) bool {
	for _, d := range diagnostics {
		if !d.Error {
			continue
		}
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
			if strings.Contains(d.Summary, cause.Error()) || strings.Contains(d.Detail, cause.Error()) {
				return true
			}
		}
	}
	return false
}

// describe adds the digest, and the id where only the cloud knew it.
func (p *permit) describe(out *client.Outcome, state cty.Value) {
	if p.call.Schema != nil {
		out.Digest = p.gate.engine.Digest(state, sensitive(p.call.Schema))
	}
	if p.op.Action != admission.Create {
		return
	}
	self, _, err := p.gate.engine.SelfID(p.op, state)
	if err != nil {
		p.gate.log.Warn("id of a new object not understood", "address", p.op.Address, "error", err)
		return
	}
	if self.ID != "" && self.ID != p.self {
		out.BindID, out.BindParent, out.BindType = string(self.ID), string(self.Parent), self.Type
	}
}

func exists(state cty.Value) bool { return state != cty.NilVal && !state.IsNull() }
