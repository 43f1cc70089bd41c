// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"errors"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// petition is one request on its way to a decision: that of a call, or that of a
// whole plan.
type petition struct {
	run     *run
	name    string
	request admission.Request
	tx      admission.TxID
	since   time.Duration
	stales  int
	over    bool
	// again makes the request anew after it was stale; nil for a plan, which is
	// the same in each round.
	again    func(done func(admission.Request))
	admitted func(decision)
	refused  func(why string)
}

func (p *petition) submit() {
	p.run.keys++
	p.request.Key = p.run.keys
	p.run.ask(submit(p.request, ""), p.decided)
}

// decided takes an answer about the transaction.
func (p *petition) decided(value any, err error) {
	if p.over {
		return
	}
	if err != nil {
		p.run.lose(err)
		p.end(class(err))
		return
	}
	d := value.(decision)
	p.tx = d.tx
	switch d.status {
	case admission.Admitted:
		p.over = true
		p.admitted(d)
	case admission.Queued:
		p.wait()
	case admission.Stale:
		p.stale()
	default:
		p.end(string(d.status))
	}
}

// class is an error without what is of one case only.
func class(err error) string {
	for _, known := range []error{admission.ErrNoSession, admission.ErrNoTx, admission.ErrStatus, admission.ErrKeyReused, admission.ErrMalformed, admission.ErrDuplicate} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

func (p *petition) end(why string) {
	p.over = true
	p.run.logf("%s was not admitted: %s", p.name, why)
	p.run.w.refusals[why]++
	p.refused(why)
}

// stale asks again with a new lock plan, under the same transaction.
func (p *petition) stale() {
	p.run.w.stale++
	if p.stales++; p.again == nil || p.stales > 8 {
		p.end("stale")
		return
	}
	p.again(func(r admission.Request) {
		r.Key = p.request.Key
		p.request = r
		p.run.ask(submit(p.request, p.tx), p.decided)
	})
}

// wait asks how things stand now and then, looks into what is in the way, and
// gives up when patience ends.
func (p *petition) wait() {
	x := p.run
	x.after(x.w.between(300*time.Millisecond, 3*time.Second), func() {
		switch {
		case x.lost:
			p.end("session lost")
		case x.w.since()-p.since > x.patience:
			x.w.impatient++
			x.ask(withdraw(p.tx, "impatient"), func(_ any, err error) { p.end("impatient") })
		case x.w.rng.IntN(3) == 0:
			x.ask(submit(p.request, ""), p.decided) // says it twice
		default:
			x.ask(ask(p.tx), func(value any, err error) {
				if errors.Is(err, admission.ErrNoTx) {
					// A coordinator that does not know that it was deposed: what it is
					// told to do, it cannot do.
					x.ask(submit(p.request, ""), p.decided)
					return
				}
				p.decided(value, err)
			})
		}
	})
	if x.w.rng.IntN(3) == 0 {
		x.investigate()
	}
}
