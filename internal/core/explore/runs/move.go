// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

type kind uint8

const (
	reserve kind = iota
	submit
	start
	succeed
	fail
	lose   // the answer is lost; the call may still take effect
	land   // a call whose answer was lost takes effect
	peek   // somebody reads the object at once
	settle // somebody reads it when nothing can arrive any more
	resolve
	finish // the run ends in order
	die    // the run is killed
	gone   // a run that has ended is found to be dead
)

var kinds = [...]string{
	"reserve", "submit", "start", "succeed", "fail", "lose", "land", "peek", "settle", "resolve", "finish", "die", "gone",
}

// move is one step: of a call of a run, or of the run.
type move struct {
	kind      kind
	run, call int
}

func (m move) String() string { return fmt.Sprintf("%s %d.%d", kinds[m.kind], m.run, m.call) }

// mishap says whether nobody may count on the move.
func (m move) mishap() bool {
	return m.kind == fail || m.kind == lose || m.kind == die || m.kind == peek
}

func (w *world) moves() []move {
	var list []move
	for i := range w.config.Runs {
		r := &w.runs[i]
		for j := range w.config.Runs[i].Calls {
			list = w.callMoves(list, i, j)
		}
		if r.closed && !r.dead && w.uncertain(i) {
			list = append(list, move{gone, i, 0})
		}
		if r.closed || r.dead {
			continue
		}
		if w.config.Runs[i].asks() && !r.reserved {
			list = append(list, move{reserve, i, 0})
		}
		if w.over(i) {
			list = append(list, move{finish, i, 0})
		} else if w.faults < w.config.Faults && r.reserved {
			list = append(list, move{die, i, 0})
		}
	}
	return list
}

func (w *world) uncertain(i int) bool {
	for j := range w.config.Runs[i].Calls {
		if tx, _ := w.state.Tx(txID(i, j)); tx.Status == admission.Uncertain {
			return true
		}
	}
	return false
}

// over says whether nothing of a run is left to be sent or answered.
func (w *world) over(i int) bool {
	r := &w.runs[i]
	if w.config.Runs[i].asks() && !r.reserved {
		return false
	}
	if w.config.Runs[i].asks() {
		switch tx, _ := w.state.Tx(planID(i)); tx.Status {
		case admission.Queued:
			return false
		case admission.Rejected:
			return true
		}
	}
	for j := range w.config.Runs[i].Calls {
		if k := r.calls[j]; k.fate == asked || k.fate == fresh && w.ready(i, j) {
			return false
		}
	}
	return true
}

// ready says whether the CLI would send a call now.
func (w *world) ready(i, j int) bool {
	if w.config.Runs[i].asks() {
		if tx, _ := w.state.Tx(planID(i)); tx.Status != admission.Admitted {
			return false
		}
	}
	for _, a := range w.config.Runs[i].Calls[j].After {
		if w.runs[i].calls[a].fate != good {
			return false
		}
	}
	return true
}

func (w *world) callMoves(list []move, i, j int) []move {
	r, k := &w.runs[i], w.runs[i].calls[j]
	add := func(kinds ...kind) {
		for _, x := range kinds {
			list = append(list, move{x, i, j})
		}
	}
	mishap := w.faults < w.config.Faults
	if k.fate == fresh && !r.closed && !r.dead && w.ready(i, j) {
		add(submit)
	}
	tx, _ := w.state.Tx(txID(i, j))
	switch tx.Status {
	case admission.Admitted:
		if !r.dead && !r.closed {
			add(start)
		}
	case admission.Actioning:
		add(succeed)
		if mishap {
			add(fail, lose)
		}
	case admission.Uncertain:
		if k.inflight {
			add(land)
		}
		add(peek, resolve)
		if r.dead {
			add(settle)
		}
	}
	return list
}

// step makes a move. What the coordinator refuses to do is part of the world;
// what it must not refuse is an error.
func (w *world) step(m move) ([]admission.Event, admission.Command, error) {
	c := w.command(m)
	if m.kind == land {
		w.takeEffect(m)
		return nil, nil, nil
	}
	if m.mishap() && m.kind != peek {
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
	return events, c, nil
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
		return w.reading(m, at)
	case settle:
		return w.reading(m, w.tick(admission.DefaultLands+2))
	case finish:
		return admission.CloseSession{Stamp: at, Session: session(m.run)}
	case die, gone:
		return admission.Deceased{Stamp: at, Session: session(m.run)}
	default:
		return nil
	}
}

// reading is what somebody sees of a call's object.
func (w *world) reading(m move, at admission.Stamp) admission.Command {
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
	case succeed:
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
	case die, gone:
		r.dead = true
	}
	w.skip(m.run)
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
