// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"errors"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// errAway: nobody who decides was reached. Whether the command took effect is not
// known.
var errAway = errors.New("the coordinator is not available")

const (
	// answerPatience is how long a client waits for an answer before it asks
	// again, perhaps somebody else.
	answerPatience = 4 * time.Second
	fastest        = time.Millisecond
	usual          = 20 * time.Millisecond
	slowest        = 6 * time.Second
)

// request is what a client asks of a coordinator. Its functions are run by the
// coordinator, perhaps twice, and use nothing that changes.
type request struct {
	name string
	// command makes the command; nil is a mere question.
	command func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error)
	// answer reads the answer from the state once the command is journalled.
	answer func(st *admission.State, s *server) (any, error)
	// promise says of an answer without an error what must be durable then; nil
	// for nothing. It is the judge's.
	promise func(l *ledger, answer any) string
}

// reply is an answer on its way back.
type reply struct {
	value any
	err   error
	epoch uint64
}

// send carries a message from one machine to another, or does not.
func (w *World) send(from, to *machine, deliver func()) {
	if w.strikes(NetDrop) {
		return
	}
	w.carry(from, to, deliver)
	if w.strikes(NetDuplicate) {
		w.carry(from, to, deliver)
	}
}

type link struct{ from, to *machine }

func (w *World) carry(from, to *machine, deliver func()) {
	d := w.between(fastest, usual)
	if w.strikes(NetDelay) {
		d = w.between(usual, slowest)
	}
	w.sent++
	l, serial := link{from, to}, w.sent
	w.clock.AfterFunc(d, func() {
		if from != to && (from.cut || to.cut) {
			w.count(NetPartition)
			return
		}
		if serial < w.arrived[l] {
			w.count(NetReorder)
		}
		w.arrived[l] = max(w.arrived[l], serial)
		deliver()
	})
}

// ask sends a request until there is an answer, to one coordinator after the
// other. It is the caller's part that asking twice does no harm.
func (p *process) ask(r request, done func(value any, err error)) {
	a := &asking{p: p, r: r, done: done}
	a.try()
}

// asking is one request that is repeated until it is answered.
type asking struct {
	p     *process
	r     request
	done  func(any, error)
	over  bool
	tries int
}

func (a *asking) try() {
	w, p := a.p.w, a.p
	s := w.servers[w.lastHeard%len(w.servers)]
	a.tries++
	try, life := a.tries, p.life
	w.send(p.machine, s.machine, func() {
		s.do(func() {
			s.receive(a.r, func(back reply) {
				w.send(s.machine, p.machine, func() { p.doIn(life, func() { a.answered(s, back) }) })
			})
		})
	})
	p.after(answerPatience, func() {
		if !a.over && a.tries == try {
			w.lastHeard++
			a.try()
		}
	})
}

func (a *asking) answered(s *server, back reply) {
	if a.over {
		return
	}
	w := a.p.w
	if errors.Is(back.err, errAway) {
		try := a.tries
		a.p.after(w.between(200*time.Millisecond, time.Second), func() {
			if !a.over && a.tries == try {
				w.lastHeard++
				a.try()
			}
		})
		return
	}
	a.over = true
	if back.err != nil {
		a.p.logf("%s: %v", a.r.name, back.err)
	}
	a.done(back.value, back.err)
}
