// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// unclear says whether a call failed in a way that leaves open whether its
// object is there: a create without a state, with errors that no rule knows to
// be refusals. A provider that only stopped waiting is another matter, since
// the cloud may still be at it. What no rule knows stands for itself alone:
// nobody else waits for it, and nobody could find out.
func (p *permit) unclear(o intercept.Outcome) bool {
	if o.Result != intercept.Failed || p.op.Action != admission.Create || exists(o.NewState) || !p.ruled || gaveUp(o.Diagnostics) {
		return false
	}
	_, definite, _ := p.gate.engine.Refusal(p.call.Provider, p.call.Type, errorTexts(o.Diagnostics))
	return !definite
}

// errorTexts are a provider's errors as rules look at them.
func errorTexts(diagnostics []intercept.Diagnostic) []string {
	var texts []string
	for _, d := range diagnostics {
		if d.Error {
			texts = append(texts, d.Summary+"\n"+d.Detail)
		}
	}
	return texts
}

// investigate reads what a failed create left behind, and reports that. Until
// then the call counts as running, with all that it holds.
//
// Presence says that the object is there, whoever made it. Absence is a proof
// here although the sender lives: the error is the provider's own answer, so it
// has ended the call and sends nothing more for it; what it had sent shows in
// the cloud within the time that the rules give to a call whose sender is dead
// (admission.Request.Lands), and the deciding read begins after that. The first
// read, at once, is for presence alone. Where reading is not possible the
// outcome is lost.
func (p *permit) investigate(ctx context.Context, o intercept.Outcome) {
	lands := time.Duration(p.request.Lands)
	if lands <= 0 {
		lands = time.Duration(admission.DefaultLands)
	}
	answered := time.Now()
	for pause := range looks() {
		began := time.Now()
		r, err := p.gate.read(ctx, p.node())
		switch {
		case err != nil:
			p.gate.log.WarnContext(ctx, "what a failed create left behind is not known", "address", p.op.Address, "error", err)
			o.Result = intercept.Unknown
			p.report(context.WithoutCancel(ctx), p.outcome(o))
			return
		case r.exists && r.terminal:
			p.report(ctx, client.Outcome{Result: admission.Errored, Exists: true, Digest: r.seen.Observation.Digest})
			return
		case !r.exists && began.Sub(answered) >= lands:
			p.report(ctx, client.Outcome{Result: admission.Errored})
			return
		}
		if !r.exists {
			pause = min(pause, lands-time.Since(answered))
		}
		sleep(ctx, pause) // when ctx ends the read fails
	}
}

// node is the call's own object.
func (p *permit) node() graph.Decl {
	for _, d := range p.request.Nodes {
		if d.ID == p.request.Self {
			return d
		}
	}
	return graph.Decl{ID: p.request.Self}
}

// ownPatience is for how long a run looks into a lost call of its own: it wants
// to end.
const ownPatience = 15 * time.Second

// follow looks into a call of this run whose outcome was lost: where what it
// was to make turns out to be there, nobody has to wait for a person. Its
// sender lives, so absence proves nothing for a long time.
func (p *permit) follow(outcome client.Outcome) {
	if outcome.Result != admission.Lost || p.op.Action != admission.Create {
		return
	}
	p.gate.work.add(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, ownPatience)
		defer cancel()
		p.gate.settler.own(ctx, coordinator.Unsettled{
			Tx: p.grant.Tx(), Self: p.node(), Type: p.op.Type, Address: p.op.Address, Action: p.op.Action,
			Session: admission.SessionID(p.gate.session.ID()), After: -1,
		})
	})
}
