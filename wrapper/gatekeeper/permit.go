// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// free is the permit for a call that the coordinator has no part in.
type free struct {
	gate  *Gatekeeper
	match lowering.Match
}

// Start does nothing.
func (free) Start(context.Context) error { return nil }

// Done tells the plan alone.
func (f free) Done(_ context.Context, outcome intercept.Outcome) {
	if outcome.Result == intercept.Succeeded {
		f.gate.succeeded(f.match)
	}
}

// succeeded tells the plan of a call of it that has ended well.
func (g *Gatekeeper) succeeded(match lowering.Match) {
	changes := g.planned()
	if changes == nil {
		return
	}
	changes.Succeeded(match)
	if match.ID == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended[match.ID] = true
	if match.Certain() {
		return
	}
	for _, id := range match.Among() {
		g.alike[id] = match
	}
}

// permit is the right to send one call.
type permit struct {
	gate  *Gatekeeper
	grant Grant
	op    ruleengine.Operation
	call  intercept.Call
	match lowering.Match
	// label is what the call is called in front of people.
	label   string
	request admission.Request
	mode    Mode
	// ruled is false for a type that no rule knows.
	ruled bool

	mu      sync.Mutex
	started bool
	// alone is true when the coordinator was lost before the call was started,
	// and the call was sent all the same.
	alone bool
	// unheard is true for a call that the CLI has learned nothing good of; it is
	// set before the outcome is reported.
	unheard bool
}

// Start journals that the call is about to be sent.
func (p *permit) Start(ctx context.Context) error {
	// An answer that got lost may still have started the call.
	p.mu.Lock()
	p.started = true
	p.mu.Unlock()
	err := p.grant.Start(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case p.gate.mayGoAlone(p.mode, err):
		p.mu.Lock()
		p.alone = true
		p.mu.Unlock()
		p.gate.goAlone(p.name(), err)
		return nil
	default:
		a := &admittance{gate: p.gate, call: p.call, op: p.op, match: p.match}
		return p.gate.fail(a, fmt.Errorf("the coordinator did not let the admitted call start: %w", err))
	}
}

// Done reports the outcome.
func (p *permit) Done(ctx context.Context, outcome intercept.Outcome) {
	p.mu.Lock()
	started := p.started
	p.mu.Unlock()
	if outcome.Result == intercept.Succeeded {
		p.gate.succeeded(p.match)
		if p.op.Action == admission.Create {
			p.gate.forgetLife(p.request.Self)
		}
	}
	p.keep(outcome)
	switch {
	case outcome.Result == intercept.NotSent && !started:
		if err := p.grant.Withdraw(ctx); err != nil {
			p.gate.log.WarnContext(ctx, "admitted call not given back", "address", p.op.Address, "tx", p.grant.Tx(), "error", err)
		}
	case p.unclear(outcome):
		p.gate.work.add(func(ctx context.Context) { p.investigate(ctx, outcome) })
	default:
		p.report(ctx, p.outcome(outcome))
	}
}

// reportPatience is for how long an outcome is offered to a coordinator that was
// away for a lease already.
const reportPatience = 30 * time.Second

// report tells the coordinator the outcome. While it is away that is tried in
// the background, for as long as the run waits for its end.
func (p *permit) report(ctx context.Context, outcome client.Outcome) {
	p.learned(outcome)
	err := p.grant.Complete(ctx, outcome)
	switch {
	case err == nil:
		p.follow(outcome)
	case unreachable(err):
		p.gate.work.add(func(ctx context.Context) { p.reportLater(ctx, outcome, err) })
	default:
		p.unreported(ctx, outcome, err)
	}
}

func (p *permit) reportLater(ctx context.Context, outcome client.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	for pause := range looks() {
		if !sleep(ctx, pause) {
			break
		}
		if err = p.grant.Complete(ctx, outcome); err == nil {
			p.follow(outcome)
			return
		}
		if !unreachable(err) {
			break
		}
	}
	p.unreported(context.WithoutCancel(ctx), outcome, err)
}

// unreported notes that the coordinator does not know an outcome. It will hold
// the call for uncertain, which is safe.
func (p *permit) unreported(ctx context.Context, outcome client.Outcome, err error) {
	p.gate.log.WarnContext(ctx, "outcome not recorded", "address", p.op.Address, "tx", p.grant.Tx(), "error", err)
	p.mu.Lock()
	alone := p.alone
	p.mu.Unlock()
	if outcome.Result != admission.NotSent && outcome.Result != admission.Lost && !alone {
		p.gate.ledger.lost(views.Uncertain{
			Address: p.name(), Tx: string(p.grant.Tx()), Seen: true, Failed: outcome.Result == admission.Errored, Exists: outcome.Exists,
		})
	}
}

// lost notes a call whose outcome nobody knows.
func (p *permit) lost(stopped bool) {
	p.gate.ledger.lost(views.Uncertain{Address: p.name(), Tx: string(p.grant.Tx()), GaveUp: stopped})
}

func (p *permit) name() string { return p.label }
