// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Parallelism is how many calls of a run are in flight at most: Terraform's
// default.
const Parallelism = 10

// strategy is how runs get along with each other.
type strategy interface {
	// arrive is called once for each run; it or a later event opens the run.
	arrive(*run)
	// ready is called for each call of an opened run when Terraform would send
	// it; it or a later event sends it.
	ready(*call)
	// starting is called before the call leaves, once.
	starting(*call)
	// refused says what becomes of a call that the cloud refused: it is tried again
	// after a time, or has failed.
	refused(*call, *arm.Error) (again time.Duration, ok bool)
	// ended is called when a call that was sent has ended for good.
	ended(c *call, ok bool)
	// finished is called once for each run, when nothing of it is open any more.
	finished(*run)
}

// run is a session while it is played.
type run struct {
	number  int
	session *Session
	calls   []*call
	// open are the calls that have neither ended nor been skipped.
	open int
	// flying are those that hold a slot, queue those that wait for one.
	flying int
	queue  []*call
	// begun is true once the run may send calls, and refused for one that was
	// refused as a whole.
	begun, refused bool
}

// call is an operation while it is played.
type call struct {
	*Operation
	run     *run
	waits   int // for so many others
	next    []*call
	tries   int
	skipped bool
	// failed is true for a call that was sent or refused and did not succeed.
	failed bool
	done   bool

	readyAt, start, end time.Duration
	// ticket is the call's own, rank the one that it has or inherits, and served
	// the place in the order of admissions; strategies without a coordinator count
	// starts for the last.
	ticket, rank, served uint64
}

// player plays a scene under one strategy, event by event.
type player struct {
	*stage
	strategy strategy
	runs     []*run
	flying   map[string]*call
	served   uint64
	wasted   int
	err      error
}

func newPlayer(s Scene, st *stage) *player {
	p := &player{stage: st, flying: map[string]*call{}}
	for n := range s.Sessions {
		r := &run{number: n, session: &s.Sessions[n], open: len(s.Sessions[n].Calls)}
		for i := range r.session.Calls {
			o := &r.session.Calls[i]
			r.calls = append(r.calls, &call{Operation: o, run: r, waits: len(o.After)})
		}
		for _, c := range r.calls {
			for _, before := range c.After {
				r.calls[before].next = append(r.calls[before].next, c)
			}
		}
		p.runs = append(p.runs, r)
	}
	return p
}

// pace keeps calls back until what they need of other sessions is there.
func (p *player) pace() {
	for _, r := range p.runs {
		for _, c := range r.calls {
			for _, at := range c.Needs {
				before := p.runs[at.Session].calls[at.Call]
				before.next = append(before.next, c)
				c.waits++
			}
		}
	}
}

var errStuck = errors.New("the runs wait and nothing is left to happen")

// play plays all runs to their ends, or until the context ends.
func (p *player) play(ctx context.Context) error {
	for _, r := range p.runs {
		p.clock.AfterFunc(r.session.Arrival, func() { p.strategy.arrive(r) })
	}
	for p.err == nil && p.clock.Step() {
		p.settle()
		p.fail(ctx.Err())
	}
	for _, r := range p.runs {
		if r.open > 0 && p.err == nil {
			p.err = fmt.Errorf("%w: %d calls of session %d", errStuck, r.open, r.number)
		}
	}
	return errors.Join(p.err, p.cloud.Close())
}

// settle takes the ends of operations into account.
func (p *player) settle() {
	for len(p.ended) > 0 {
		e := p.ended[0]
		p.ended = p.ended[1:]
		if c, ok := p.flying[e.OperationID]; ok {
			delete(p.flying, e.OperationID)
			p.end(c, e.Status == activity.Succeeded)
		}
	}
}

// begin opens a run: what comes after nothing is ready.
func (p *player) begin(r *run) {
	r.begun = true
	for _, c := range r.calls {
		if c.waits == 0 {
			p.ready(c)
		}
	}
}

func (p *player) ready(c *call) {
	c.readyAt = p.now()
	p.strategy.ready(c)
}

// send sends a call as soon as its run has a slot.
func (p *player) send(c *call) {
	if c.run.flying == Parallelism {
		c.run.queue = append(c.run.queue, c)
		return
	}
	c.run.flying++
	p.strategy.starting(c)
	p.try(c)
}

// try sends a call that has a slot.
func (p *player) try(c *call) {
	c.tries++
	operation, refusal := p.write(c.Operation, groupName(c.run.number))
	if refusal == nil {
		c.start = p.now()
		if c.served == 0 {
			p.served++
			c.served = p.served
		}
		p.flying[operation] = c
		return
	}
	p.wasted++
	if again, ok := p.strategy.refused(c, refusal); ok {
		p.clock.AfterFunc(again, func() { p.try(c) })
		return
	}
	p.end(c, false)
}

// end ends a call that has a slot.
func (p *player) end(c *call, ok bool) {
	c.end, c.done, c.failed = p.now(), ok, !ok
	c.run.flying--
	p.strategy.ended(c, ok)
	if len(c.run.queue) > 0 {
		next := c.run.queue[0]
		c.run.queue = c.run.queue[1:]
		p.send(next)
	}
	p.close(c)
}

// close goes on with what comes after a call that has ended. Terraform skips what
// comes after a failure.
func (p *player) close(c *call) {
	if !c.done {
		p.skip(c)
	}
	for _, n := range c.next {
		if n.waits--; n.waits == 0 && !n.skipped && n.run.begun {
			p.ready(n)
		}
	}
	p.less(c.run)
}

// drop ends a call that is never sent.
func (p *player) drop(c *call) {
	c.failed = true
	p.close(c)
}

// skip leaves out what comes after a call.
func (p *player) skip(c *call) {
	for _, n := range c.next {
		if !n.skipped {
			n.skipped = true
			p.skip(n)
			if n.run == c.run {
				n.run.open-- // the call that failed is still open
			} else {
				p.less(n.run)
			}
		}
	}
}

// refuse ends a run before its first call.
func (p *player) refuse(r *run) {
	r.refused, r.open = true, 0
	p.strategy.finished(r)
}

func (p *player) less(r *run) {
	if r.open--; r.open == 0 {
		p.strategy.finished(r)
	}
}

// fail ends the play with an error of the harness itself.
func (p *player) fail(err error) {
	if err != nil && p.err == nil {
		p.err = err
	}
}
