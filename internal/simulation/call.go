// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// call is one planned call on its way through the coordinator to the cloud.
type call struct {
	*planned
	run     *run
	tx      admission.TxID
	token   uint64
	request admission.Request
}

// apply asks for the admission of a call.
func (x *run) apply(c *planned) {
	k := &call{planned: c, run: x}
	k.lower(func(r admission.Request) {
		p := &petition{run: x, name: string(c.id), request: r, since: x.w.since(), again: k.lower}
		p.admitted = func(d decision) {
			k.tx, k.token, k.request = d.tx, d.token, p.request
			k.takeSlot()
		}
		p.refused = func(string) { k.done(false) }
		p.submit()
	})
}

// lower makes the request of the call, with what is known by now.
func (k *call) lower(done func(admission.Request)) {
	finish := func(g live) {
		k.run.lowered(k.planned, g)
		r := k.run.request(k.planned, k.lowered)
		if k.run.reserve != "" && !k.run.w.flaw.noClaims {
			r.Plan, r.Call = k.run.reserve, k.id
		}
		done(r)
	}
	if k.thing.typ == association {
		k.run.aroundSubnet(k.planned, finish)
		return
	}
	finish(nil)
}

// takeSlot waits until fewer calls than allowed are forwarded.
func (k *call) takeSlot() {
	x := k.run
	if x.slots == 0 {
		x.after(x.w.between(50*time.Millisecond, 200*time.Millisecond), k.takeSlot)
		return
	}
	x.slots--
	k.start()
}

// start announces the call, and forwards it only when that was acknowledged and
// in time. The time is that of a clock that runs while the machine is suspended.
func (k *call) start() {
	x := k.run
	if x.w.flaw.noStart {
		k.forward()
		return
	}
	asked := x.w.since()
	x.ask(start(x.session, k.tx, k.token), func(value any, err error) {
		switch {
		case err != nil:
			x.lose(err)
			x.slots++
			k.report(outcome{result: admission.NotSent})
		case x.w.since() >= asked+value.(time.Duration):
			x.logf("%s is too late to be sent", k.id)
			x.w.late++
			x.slots++
			k.report(outcome{result: admission.NotSent})
		default:
			k.forward()
		}
	})
}

// forward hands the call to the plugin.
func (k *call) forward() {
	x := k.run
	x.w.judge.forwarded(k)
	if !x.plugin.alive {
		x.slots++
		k.report(outcome{result: admission.NotSent})
		return
	}
	k.run.w.calls++
	x.plugin.take(k, func(o outcome) {
		x.do(func() {
			x.slots++
			k.report(o)
		})
	})
}

// outcome is what a plugin says about a call.
type outcome struct {
	result admission.Result
	exists bool
}

// report tells the coordinator what became of the call.
func (k *call) report(o outcome) {
	x := k.run
	x.logf("%s %s: %s exists=%v", k.id, k.tx, o.result, o.exists)
	x.w.results[string(o.result)]++
	c := admission.Complete{Tx: k.tx, Token: k.token, Result: o.result, Exists: o.exists}
	x.ask(complete(c), func(_ any, err error) {
		x.lose(err)
		k.done(o.result == admission.Succeeded)
		if o.result == admission.Lost {
			x.investigate()
		}
	})
}

// done goes on with what comes after the call.
func (k *call) done(well bool) {
	k.ended, k.succeeded = true, well
	x := k.run
	if well && k.action == admission.Create {
		delete(x.lives, k.lowered.Request.Self)
	}
	if well && len(k.lowered.Resized) > 0 && !x.lost {
		x.measure(owners(k.lowered.Resized), x.advance)
		return
	}
	x.advance()
}
