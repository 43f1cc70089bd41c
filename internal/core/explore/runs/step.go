// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"encoding/json"
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// step makes a move. What the coordinator refuses to do is part of the world;
// what it must not refuse is an error.
func (w *world) step(m move) ([]admission.Event, admission.Command, error) {
	c := w.command(m)
	if m.kind == land {
		w.takeEffect(m)
		return nil, nil, nil
	}
	if m.fault() {
		w.faults++
	}
	w.before(m)
	events, err := w.state.Apply(c)
	if m.kind == peek && errors.Is(err, admission.ErrUnsettled) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	w.learn(events)
	if w.config.Restart && w.state.Index()%3 == 0 {
		err = w.restart()
	}
	return events, c, err
}

// restart goes on with the machine as it is read from its snapshot.
func (w *world) restart() error {
	saved, err := json.Marshal(w.state)
	if err != nil {
		return err
	}
	w.state = admission.New()
	return json.Unmarshal(saved, w.state)
}

func (w *world) command(m move) admission.Command {
	at, id := w.tick(1), txID(m.run, m.call)
	tx, _ := w.state.Tx(id)
	c := &w.config.Runs[m.run].Calls[m.call]
	complete := func(r admission.Result) admission.Command {
		exists := c.Action != admission.Create
		return admission.Complete{Stamp: at, Tx: id, Token: tx.Token, Result: r, Exists: exists}
	}
	switch m.kind {
	case reserve:
		return admission.Submit{Stamp: at, ID: planID(m.run), Request: w.reservationOf(m.run)}
	case submit:
		return admission.Submit{Stamp: at, ID: id, Request: w.request(m.run, m.call)}
	case start:
		return admission.Start{Stamp: at, Tx: id, Token: tx.Token}
	case succeed:
		return complete(admission.Succeeded)
	case fail:
		return complete(admission.Errored)
	case lose:
		return complete(admission.Lost)
	case resolve:
		return admission.Resolve{Stamp: at, Tx: id, Actor: "a", Reason: "r", Exists: w.exists(m)}
	case peek:
		return w.sight(m, at)
	case settle:
		return w.sight(m, w.tick(admission.DefaultLands+2))
	case finish:
		return admission.CloseSession{Stamp: at, Session: session(m.run)}
	case die, gone:
		return admission.Deceased{Stamp: at, Session: session(m.run)}
	case late:
		return complete(admission.Succeeded)
	case lapse:
		return w.expiry(m.run)
	case giveUp:
		return admission.Withdraw{Stamp: at, Tx: planID(m.run)}
	case look:
		return admission.Renew{Stamp: at, Session: observer}
	case early:
		return w.measure(at, w.read.use)
	case now:
		return w.measure(at, w.use)
	case shrink:
		return w.limited(at, w.limit[0]-1)
	case grow:
		return w.limited(at, w.limit[0]+1)
	default:
		return nil
	}
}

// expiry is when the lease of a run ends, and of no other.
func (w *world) expiry(i int) admission.Command {
	x, _ := w.state.Session(session(i))
	for _, o := range w.state.Sessions() {
		if o.ID != x.ID && o.EndedAt == 0 {
			_, _ = w.state.Apply(admission.Renew{Stamp: admission.Stamp{Now: x.Expires - 1}, Session: o.ID})
		}
	}
	return admission.Expire{Stamp: admission.Stamp{Now: x.Expires}}
}

// measure is the end of the read that is under way.
func (w *world) measure(at admission.Stamp, use [buckets]int64) admission.Command {
	c := admission.Measure{Stamp: at, Session: observer, Began: w.read.mark}
	for b := range buckets {
		c.Readings = append(c.Readings, admission.Reading{Bucket: bucket(b), Use: escrow.At(use[b])})
	}
	return c
}

func (w *world) limited(at admission.Stamp, limit int64) admission.Command {
	r := admission.Reading{Bucket: bucket(0), Limit: escrow.At(limit)}
	return admission.Measure{Stamp: at, Session: observer, Began: w.state.Index(), Readings: []admission.Reading{r}}
}

// sight is what somebody sees of a call's object.
func (w *world) sight(m move, at admission.Stamp) admission.Command {
	return admission.Settle{
		Stamp: at, Session: observer, Tx: txID(m.run, m.call), Began: w.state.Index(), BeganAt: at.Now,
		Exists: w.exists(m), Terminal: true,
	}
}

// exists says whether the object of a call is there now.
func (w *world) exists(m move) bool {
	c, k := &w.config.Runs[m.run].Calls[m.call], w.runs[m.run].calls[m.call]
	switch c.Action {
	case admission.Create:
		return k.landed
	case admission.Delete:
		return !k.landed
	default:
		return true
	}
}

// reservationOf makes the plan of a run on what is there now.
func (w *world) reservationOf(i int) admission.Request {
	w.runs[i].lives = w.life
	return w.reservation(i)
}

// before is what happens in the cloud and in the run by a move.
func (w *world) before(m move) {
	r := &w.runs[m.run]
	k := &r.calls[m.call]
	switch m.kind {
	case reserve:
		r.reserved = true
	case submit:
		if !r.reserved {
			r.reserved, r.lives = true, w.life
		}
		k.fate = asked
	case start:
		k.inflight = true
		w.spoil(m)
	case succeed, late:
		w.takeEffect(m)
		k.fate = good
	case fail:
		k.inflight, k.fate = false, bad
	case lose:
		k.fate = bad
	case resolve:
		k.inflight = false // the person knows that nothing arrives any more
	case settle:
		w.quieten()
	case finish:
		r.closed = true
	case lapse:
		r.closed = true
		w.quieten() // a lease lasts longer
	case die, gone:
		r.dead = true
	case giveUp:
		r.giveUp()
	default:
		w.around(m)
	}
	w.skip(m.run)
}

// around is what happens by a move of no run.
func (w *world) around(m move) {
	switch m.kind {
	case look:
		w.read = reading{begun: true, mark: w.state.Index(), use: w.use}
	case early, now:
		w.read = reading{begun: true, over: true}
	case shrink:
		w.shifted = true
		w.limit[0]--
	case grow:
		w.shifted = true
		w.limit[0]++
		w.limits[0] = max(w.limits[0], w.limit[0])
	}
}

// giveUp: what was not asked for will not be.
func (r *run) giveUp() {
	r.gaveUp = true
	for j := range r.calls {
		if r.calls[j].fate == fresh {
			r.calls[j].fate = skipped
		}
	}
}

// spoil marks what a call writes that goes on without its locks.
func (w *world) spoil(m move) {
	if !w.passed(m.run, m.call) {
		return
	}
	for n := range nodes {
		if inside(n, w.config.Runs[m.run].Calls[m.call].Self) {
			w.spoiled[n] = true
		}
	}
}

// passed says whether a call goes on without its locks.
func (w *world) passed(i, j int) bool {
	tx, _ := w.state.Tx(txID(i, j))
	return tx.Passed != nil
}

// quieten is so much time that nothing of a dead run arrives any more.
func (w *world) quieten() {
	for i := range w.runs {
		for j := range w.runs[i].calls {
			if w.runs[i].dead {
				w.runs[i].calls[j].inflight = false
			}
		}
	}
}

// skip does what the CLI does with what comes after something that failed.
func (w *world) skip(i int) {
	r := &w.runs[i]
	for range w.config.Runs[i].Calls {
		for j, c := range w.config.Runs[i].Calls {
			for _, a := range c.After {
				if f := r.calls[a].fate; r.calls[j].fate == fresh && (f == bad || f == skipped) {
					r.calls[j].fate = skipped
				}
			}
		}
	}
}

func (w *world) takeEffect(m move) {
	c, k := &w.config.Runs[m.run].Calls[m.call], &w.runs[m.run].calls[m.call]
	k.inflight, k.landed = false, true
	for b, n := range c.Effects {
		w.use[b] += n
	}
	switch c.Action {
	case admission.Create:
		w.life[c.Self]++
	case admission.Delete:
		// A life ends with the delete, for whoever has planned on it.
		for i := range nodes {
			if inside(i, c.Self) {
				w.life[i] |= 0x80
			}
		}
	}
	if c.Action == admission.Create {
		w.life[c.Self] &^= 0x80
	}
}

// learn takes over what the decisions mean for the runs.
func (w *world) learn(events []admission.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case admission.TxRejected:
			w.refused(e.Tx)
		case admission.TxEnded:
			if e.Status == admission.Withdrawn {
				w.refused(e.Tx)
			}
		case admission.ClaimEnded:
			for _, id := range e.Broken {
				for n := range nodes {
					w.broken[n] = w.broken[n] || nodes[n] == id
				}
			}
		}
	}
}

func (w *world) refused(id admission.TxID) {
	for i := range w.config.Runs {
		for j := range w.config.Runs[i].Calls {
			if txID(i, j) == id && w.runs[i].calls[j].fate == asked {
				w.runs[i].calls[j].fate = bad
				w.skip(i)
			}
		}
	}
}
