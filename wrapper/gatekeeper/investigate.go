// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// unclear says whether a call ended in a way that leaves open whether its object
// is there, and that can be read: with errors that no rule knows to be refusals
// and without a state, or without an answer because the provider's process died.
// A provider that only stopped waiting is another matter, since the cloud may
// still be at it. What no rule knows stands for itself alone: nobody else waits
// for it, and nobody could find out.
func (p *permit) unclear(o intercept.Outcome) bool {
	switch {
	case !p.ruled:
		return false
	case o.Result == intercept.Unknown:
		return o.SenderDead
	case o.Result != intercept.Failed || gaveUp(o.Diagnostics):
		return false
	}
	_, known := o.Left()
	return !known && !p.definite(o)
}

// definite says whether the errors of a call mean that it had no effect at all.
func (p *permit) definite(o intercept.Outcome) bool {
	_, definite, _ := p.gate.engine.Refusal(p.call.Provider, p.call.Type, errorTexts(o.Diagnostics))
	return definite
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

// investigate reads what a call left behind that failed in an unclear way, and
// reports that. Until then the call counts as running, with all that it holds.
//
// What the call was to achieve proves itself: a created object that is there
// and rests, a deleted one that is gone. The opposite is a proof here although
// this run lives. The error was the provider's own answer, or its process is
// dead; either way it sends nothing more for this call. What it had sent shows
// in the cloud within the time that the rules give to a call whose sender is
// dead (admission.Request.Lands), and the deciding read begins after that. Where
// reading is not possible the outcome is lost.
func (p *permit) investigate(ctx context.Context, o intercept.Outcome) {
	answered, failed := time.Now(), 0
	for pause := range looks() {
		began := time.Now()
		r, err := p.gate.read(ctx, p.node())
		if err != nil {
			if failed++; failed < patientReads && !hopeless(ctx, err) {
				sleep(ctx, pause)
				continue
			}
			p.gate.log.WarnContext(ctx, "what a failed call left behind is not known", "address", p.op.Address, "error", err)
			o.Result = intercept.Unknown
			p.report(context.WithoutCancel(ctx), p.outcome(o))
			return
		}
		failed = 0
		left := p.lands() - began.Sub(answered)
		if r.terminal && (achieved(p.op.Action, r.exists) || left <= 0) {
			p.report(ctx, client.Outcome{Result: admission.Errored, Exists: r.exists, Digest: r.seen.Observation.Digest})
			return
		}
		if left > 0 {
			pause = min(pause, left)
		}
		sleep(ctx, pause) // when ctx ends the next read fails
	}
}

// hopeless says whether a read that failed is of no use to try again.
func hopeless(ctx context.Context, err error) bool {
	var never *unreadableError
	return ctx.Err() != nil || errors.As(err, &never)
}

// achieved says whether what was found is what a call was to achieve, and could
// be seen at no other time. An update changes what is there anyway.
func achieved(a admission.Action, exists bool) bool {
	return a == admission.Create && exists || a == admission.Delete && !exists
}

// lands is how long after the death of its sender the call may still show.
func (p *permit) lands() time.Duration {
	if p.request.Lands > 0 {
		return time.Duration(p.request.Lands)
	}
	return time.Duration(admission.DefaultLands)
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
			Tx: p.grant.Tx(), Self: p.node(), Type: p.op.Type, Address: p.name(), Action: p.op.Action,
			Session: admission.SessionID(p.gate.session.ID()), After: -1,
		})
	})
}
