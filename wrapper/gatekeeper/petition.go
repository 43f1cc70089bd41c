// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/views"
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
	errImpatient = fmt.Errorf("waited as long as -weaver-wait allows: %w", client.ErrImpatient)
	// errRestless: the graph changed during each of the attempts.
	errRestless = fmt.Errorf("the objects that the change depends on were changed by others during each of %d attempts", maxRounds)
)

// petition is one request on its way to a decision: that of a call, or that of
// a whole plan.
type petition struct {
	gate *Gatekeeper
	// name is what the request is called in front of people.
	name string
	// taken is the address of the change that a call is taken for; the name may
	// be that of several.
	taken string
	mode  Mode
	// lower makes the request anew, for the given round.
	lower func(ctx context.Context, round int) (admission.Request, error)

	// waiting is called once when another session is in the way; nil for
	// nothing.
	waiting func()

	// buckets are those that the request asks for.
	buckets []ruleengine.Bucket

	key     uint64
	request admission.Request
	watch   *wait

	mu sync.Mutex
	// tx is the transaction that waits, once it is known.
	tx admission.TxID
	// passage is set when the transaction is passed while it waits.
	passage *passage
}

// submit asks until there is a decision: a grant, or a reason why there is
// none. In a lenient mode a refusal is passed.
func (p *petition) submit(ctx context.Context) (Grant, error) {
	p.key = p.gate.keys.Add(1)
	grant, err := p.rounds(ctx)
	var rejected *client.RejectedError
	if errors.As(err, &rejected) && p.gate.lookAgain(ctx, p, rejected.Report) {
		p.key = p.gate.keys.Add(1)
		grant, err = p.rounds(ctx)
	}
	if errors.As(err, &rejected) {
		if pass, ok := p.pardon(ctx, rejected.Report); ok {
			return p.passRefused(ctx, rejected, pass)
		}
	}
	return grant, err
}

// rounds asks until there is an answer that is not "stale".
func (p *petition) rounds(ctx context.Context) (Grant, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := newPatience(p.gate.config.Wait, func() { p.impatient(ctx, cancel) })
	defer patience.stop()
	p.watch = newWait(p, patience).after(p.watch)
	defer p.watch.stop()

	var stale admission.TxID
	for round := range maxRounds {
		request, err := p.lower(ctx, round)
		if err != nil {
			return nil, err
		}
		request.Key, request.Advisory = p.key, p.mode == Observe
		p.request = request
		grant, err := p.gate.session.Submit(ctx, request, stale, func(news client.Waiting) { p.waits(ctx, cancel, news) })
		var again *client.StaleError
		switch {
		case err == nil:
			return p.granted(grant), nil
		case p.passedGrant() != nil:
			return p.granted(p.passedGrant()), nil
		case errors.As(err, &again):
			stale = again.Tx
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), errImpatient) && !isRejected(err):
			return nil, errImpatient
		case errors.Is(context.Cause(ctx), errWithin):
			return nil, errWithin
		default:
			return nil, err
		}
	}
	return nil, errRestless
}

func isRejected(err error) bool {
	var rejected *client.RejectedError
	return errors.As(err, &rejected)
}

// waits takes what the coordinator says about the wait.
func (p *petition) waits(ctx context.Context, cancel context.CancelCauseFunc, news client.Waiting) {
	p.mu.Lock()
	first := p.tx != news.Tx
	p.tx = news.Tx
	p.mu.Unlock()
	if first {
		go p.gate.settler.watch(ctx, news.Tx, p.watch)
	}
	if news.Foreign && p.waiting != nil {
		p.waiting()
		p.waiting = nil
	}
	p.watch.show(news)
	if !news.Foreign {
		return
	}
	pass, ok := p.gate.override.take(ctx, p, news.Report)
	switch {
	case ok:
	case !p.gate.within(news.Report):
		return
	case conflict.OfState(news.Report):
		cancel(errWithin)
		return
	default:
		pass = part()
	}
	go p.passWaiting(ctx, news.Tx, pass)
}

// impatient is called when the wait took as long as it may.
func (p *petition) impatient(ctx context.Context, cancel context.CancelCauseFunc) {
	p.mu.Lock()
	tx := p.tx
	p.mu.Unlock()
	if p.mode != Wait || tx == "" || !p.passWaiting(ctx, tx, p.lenience("it waited as long as -weaver-wait allows")) {
		cancel(errImpatient)
	}
}

// granted shows that a request that had waited goes on.
func (p *petition) granted(grant Grant) Grant {
	p.mu.Lock()
	on := p.passage
	p.mu.Unlock()
	switch {
	case on != nil && (on.grant != nil || grant.Passed() != nil):
		p.watch.passed()
		p.tell(on.pass, grant.Tx(), on.report)
	case on == nil && grant.Passed() != nil:
		p.tell(*grant.Passed(), grant.Tx(), grant.Report())
	default:
		p.watch.admitted(grant.Tx())
	}
	return grant
}

// lastReport is the report of the last decision, nil when there was none.
func (p *petition) lastReport() *conflict.Report {
	if p.watch == nil {
		return nil
	}
	return p.watch.report()
}

// tell shows and notes that the request goes on although something is in its
// way.
func (p *petition) tell(pass admission.Pass, tx admission.TxID, report *conflict.Report) {
	told := views.Passed{
		Address: p.name, Tx: string(tx), Mode: pass.Mode, By: pass.By, Reason: pass.Reason, Of: string(pass.Of),
	}
	if report != nil {
		documented := named(p.gate.documented(*report), p.name)
		told.Report, told.Refused = &documented, refuses(documented)
	}
	p.gate.notePassed(told)
}

// refuses says whether a report is of something that waiting does not mend.
func refuses(r conflict.Report) bool {
	if r.Decision != "" {
		return r.Decision != conflict.Wait
	}
	return slices.ContainsFunc(r.Conflicts, func(c conflict.Conflict) bool {
		switch {
		case c.Failed != "", c.Exceeded:
			return true
		case short(c):
			return c.Capacity.Hopeless
		default: // what has been declared will come
			return c.Fact != nil && (c.Holder == nil || c.Holder.State != conflict.Declared)
		}
	})
}
