// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
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
	lapse  // the lease of a run ends; its calls go on, and may still answer
	late   // such an answer
	giveUp // the run gives its reservation back before its end
	look   // a read of the buckets begins
	early  // it ends, and saw them as they were when it began
	now    // it ends, and saw them as they are
	shrink // a limit falls by one
	grow   // a limit rises by one
)

var kinds = [...]string{
	"reserve", "submit", "start", "succeed", "fail", "lose", "land", "peek", "settle", "resolve", "finish", "die", "gone",
	"lapse", "late", "give up", "look", "early", "now", "shrink", "grow",
}

// move is one step: of a call of a run, or of the run.
type move struct {
	kind      kind
	run, call int
}

func (m move) String() string { return fmt.Sprintf("%s %d.%d", kinds[m.kind], m.run, m.call) }

// fault says whether the move is one of the bounded mishaps.
func (m move) fault() bool {
	switch m.kind {
	case fail, lose, die, lapse, giveUp:
		return true
	default:
		return false
	}
}

// mishap says whether nobody may count on the move.
func (m move) mishap() bool { return m.fault() || m.kind == peek || m.kind >= late }

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
			list = append(list, move{die, i, 0}, move{lapse, i, 0})
			if tx, _ := w.state.Tx(planID(i)); tx.Status == admission.Admitted {
				list = append(list, move{giveUp, i, 0})
			}
		}
	}
	return w.outerMoves(list)
}

// outerMoves are those of no run.
func (w *world) outerMoves(list []move) []move {
	switch {
	case !w.config.Read || w.read.over:
	case !w.read.begun:
		list = append(list, move{kind: look})
	case w.read.use != w.use:
		list = append(list, move{kind: early}, move{kind: now})
	default:
		list = append(list, move{kind: now})
	}
	if w.config.Shift && !w.shifted {
		list = append(list, move{kind: shrink}, move{kind: grow})
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
		if k.inflight && r.closed && !r.dead {
			add(late)
		}
		add(peek, resolve)
		if r.dead {
			add(settle)
		}
	}
	return list
}
