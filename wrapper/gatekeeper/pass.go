// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"slices"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// passage is a transaction that goes on although something is in its way. The
// grant is nil until the coordinator has answered.
type passage struct {
	grant  Grant
	pass   admission.Pass
	report *conflict.Report
}

// lenience lets a request go on because the mode does not refuse anything.
func (p *petition) lenience(reason string) admission.Pass {
	return admission.Pass{Mode: string(Wait), Reason: reason}
}

// pardon says whether a refusal is passed, and in whose name.
func (p *petition) pardon(ctx context.Context, report conflict.Report) (admission.Pass, bool) {
	if pass, ok := p.gate.override.take(ctx, p, report); ok {
		return pass, true
	}
	if p.gate.within(report) && !conflict.OfState(report) {
		return part(), true
	}
	// What was decided about the capacity of the plan holds for its calls.
	if pass := p.gate.passedPlan(p.request.Call); pass != nil && !slices.ContainsFunc(report.Conflicts, notShort) {
		return admission.Pass{Mode: pass.Mode, By: pass.By, Reason: pass.Reason, Of: pass.Of}, true
	}
	if p.mode.lenient() {
		return p.lenience("this run is never refused"), true
	}
	return admission.Pass{}, false
}

func notShort(c conflict.Conflict) bool { return !short(c) }

// passRefused passes a transaction that was refused.
func (p *petition) passRefused(ctx context.Context, rejected *client.RejectedError, pass admission.Pass) (Grant, error) {
	p.watch.abandoned()
	tx := admission.TxID(rejected.Report.ID)
	grant, err := p.gate.session.Pass(ctx, tx, pass)
	if err != nil {
		return nil, errors.Join(rejected, err)
	}
	p.tell(pass, tx, &rejected.Report)
	return grant, nil
}

// passWaiting passes a transaction that waits; the wait ends by itself then. It
// is false when that failed. A transaction that was decided meanwhile needs no
// passing.
func (p *petition) passWaiting(ctx context.Context, tx admission.TxID, pass admission.Pass) bool {
	on := &passage{pass: pass, report: p.lastReport()}
	p.mu.Lock()
	p.passage = on
	p.mu.Unlock()
	grant, err := p.gate.session.Pass(ctx, tx, pass)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		on.grant = grant
		return true
	case errors.Is(err, admission.ErrStatus):
		return true
	default:
		p.gate.log.WarnContext(ctx, "change not passed", "tx", tx, "error", err)
		return false
	}
}

// passedGrant is the grant of a transaction that was passed while it waited.
func (p *petition) passedGrant() Grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passage == nil {
		return nil
	}
	return p.passage.grant
}
