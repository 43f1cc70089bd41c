// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Violation is a broken invariant.
type Violation struct{ Invariant, Detail string }

// Error gives the invariant first.
func (v *Violation) Error() string { return v.Invariant + ": " + v.Detail }

func broken(invariant, format string, args ...any) *Violation {
	return &Violation{invariant, fmt.Sprintf(format, args...)}
}

// checkStep judges one move; w is the world after it.
func checkStep(before, w *world, m move, events []admission.Event) *Violation {
	if m.kind == start {
		if v := checkStart(before, m); v != nil {
			return v
		}
	}
	for _, e := range events {
		switch e := e.(type) {
		case admission.TxRejected:
			if v := checkRefusal(before, w, e); v != nil {
				return v
			}
		case admission.ClaimEnded:
			if v := checkBroken(w, e); v != nil {
				return v
			}
		}
	}
	return nil
}

// checkStart judges the moment from which a call may reach the cloud.
func checkStart(w *world, m move) *Violation {
	c := &w.config.Runs[m.run].Calls[m.call]
	if w.passed(m.run, m.call) {
		return nil // it was told what is in its way
	}
	for i := range w.config.Runs {
		for j := range w.config.Runs[i].Calls {
			o := &w.config.Runs[i].Calls[j]
			if w.passed(i, j) {
				continue
			}
			if w.runs[i].calls[j].inflight && c.touches(o) {
				return broken("I2 NoProviderOverlap", "%s of run %d starts while %s of run %d may be running", c.Name, m.run, o.Name, i)
			}
			if i != m.run && w.open(i, j) && c.touches(o) && !w.broken[o.Self] && !w.config.Runs[i].Watch {
				return broken("I21 IntentAtomic", "%s of run %d starts between the calls of %s of run %d", c.Name, m.run, o.Name, i)
			}
		}
	}
	if w.spoiled[c.Self] || w.runs[m.run].gaveUp {
		return nil
	}
	if c.Action != admission.Create && w.planned(m) && w.life[c.Self] != w.runs[m.run].lives[c.Self] {
		return broken("Incarnation", "%s of run %d starts on life %d, planned on %d", c.Name, m.run, w.life[c.Self], w.runs[m.run].lives[c.Self])
	}
	for j, o := range w.config.Runs[m.run].Calls {
		if o.Group != 0 && o.Group == c.Group && w.runs[m.run].calls[j].fate == skipped && !w.begun(m.run, c.Group) {
			return broken("I21 IntentAtomic", "%s starts although %s is dead", c.Name, o.Name)
		}
	}
	return nil
}

// planned says whether a call was planned on an object that was there.
func (w *world) planned(m move) bool {
	c := &w.config.Runs[m.run].Calls[m.call]
	for _, o := range w.config.Runs[m.run].Calls {
		if o.Self != c.Self && inside(c.Self, o.Self) || o.Self == c.Self && o.Action != c.Action {
			return c.Action == admission.Delete && o.Self == c.Self
		}
	}
	return true
}

// begun says whether a call of a group has had, or may have had, an effect.
func (w *world) begun(i, group int) bool {
	for j, c := range w.config.Runs[i].Calls {
		if k := w.runs[i].calls[j]; c.Group == group && (k.landed || k.inflight) {
			return true
		}
	}
	return false
}

// open says whether a call is still to come and belongs to an intent that has
// begun: nobody may get in between.
func (w *world) open(i, j int) bool {
	c, k := &w.config.Runs[i].Calls[j], w.runs[i].calls[j]
	return c.Group != 0 && (k.fate == fresh || k.fate == asked && !k.inflight && !k.landed) &&
		!w.runs[i].dead && !w.runs[i].closed && !w.runs[i].gaveUp && w.begun(i, c.Group)
}

// checkRefusal: a refusal has a ground, and never leaves an intent half done.
func checkRefusal(before, w *world, e admission.TxRejected) *Violation {
	if len(e.Blockers) == 0 {
		return broken("I17 Attribution", "%s is refused for no reason", e.Tx)
	}
	for i := range w.config.Runs {
		for j, c := range w.config.Runs[i].Calls {
			if txID(i, j) != e.Tx {
				continue
			}
			if w.runs[i].gaveUp || c.Extra || w.spoiled[c.Self] {
				continue
			}
			if c.Group != 0 && before.begun(i, c.Group) {
				return broken("I21 IntentAtomic", "%s of run %d is refused half-way: %+v", c.Name, i, e.Blockers[0])
			}
			for _, b := range e.Blockers {
				switch {
				case b.Capacity != nil && w.config.Runs[i].asks():
					return broken("I23 OwnFreesKept", "%s of run %d was reserved and is short of %+v", c.Name, i, *b.Capacity)
				case b.Exceeded:
					return broken("I26 DrawWithinReservation", "%s of run %d exceeds what it foresaw: %+v", c.Name, i, b)
				}
			}
		}
	}
	return nil
}

// checkBroken: what is reported as half replaced is.
func checkBroken(w *world, e admission.ClaimEnded) *Violation {
	for _, id := range e.Broken {
		half := false
		for i := range w.config.Runs {
			for _, c := range w.config.Runs[i].Calls {
				half = half || nodes[c.Self] == id && c.Group != 0 && w.begun(i, c.Group)
			}
		}
		if !half {
			return broken("I17 Attribution", "%s is reported as half replaced", id)
		}
	}
	return nil
}

// checkState judges a world.
func checkState(w *world) *Violation {
	if !w.state.Settled() {
		return broken("I13 NoLostWakeup", "a waiter would be judged differently now")
	}
	if v := checkHolders(w); v != nil {
		return v
	}
	for b := range buckets {
		low, high := w.use[b], w.use[b]
		for i := range w.config.Runs {
			for j, c := range w.config.Runs[i].Calls {
				if w.runs[i].calls[j].inflight {
					high += max(c.Effects[b], 0)
					low += min(c.Effects[b], 0)
				}
			}
		}
		level := w.state.Capacity().Level(bucket(b))
		switch {
		case high > w.limits[b] && w.config.Use[b] <= w.config.Limits[b]:
			return broken("I5 EscrowSup", "bucket %d may reach %d of %d", b, high, w.limits[b])
		case level.Sup < high || level.Inf > low:
			return broken("I6 EscrowInf", "bucket %d may be %d to %d, and is held for %d to %d", b, low, high, level.Inf, level.Sup)
		}
	}
	return nil
}

// checkHolders: what runs hold is compatible, and who waits is told for whom.
func checkHolders(w *world) *Violation {
	claims := w.state.Claims()
	for i, c := range claims {
		p, _ := w.state.Tx(c.Plan)
		for _, want := range c.Locks {
			for _, h := range w.state.Locks().Holders(want.Node) {
				if tx, _ := w.state.Tx(admission.TxID(h.Owner)); tx.Session != p.Session && !mode.Compatible(h.Mode, want.Mode) {
					return broken("I1 CompatibleHolders", "%s holds %s inside claim %s", tx.ID, want.Node, c.ID)
				}
			}
		}
		for _, o := range claims[i+1:] {
			q, _ := w.state.Tx(o.Plan)
			if _, _, clash := c.Locks.Clash(o.Locks); clash && q.Session != p.Session {
				return broken("I1 CompatibleHolders", "claims %s and %s", c.ID, o.ID)
			}
		}
	}
	for _, id := range w.state.Waiting() {
		if len(w.state.Blockers(id)) == 0 {
			return broken("I17 Attribution", "%s waits for no reason", id)
		}
	}
	return nil
}

// checkEnd: where nothing can happen any more but mishaps, nobody waits.
func checkEnd(w *world, moves []move) *Violation {
	for _, m := range moves {
		if !m.mishap() {
			return nil
		}
	}
	if waiting := w.state.Waiting(); len(waiting) > 0 {
		return broken("I12 Progress", "%v wait for ever", waiting)
	}
	for i := range w.config.Runs {
		if !w.runs[i].closed && !w.runs[i].dead {
			return broken("I12 Progress", "run %d never ends", i)
		}
	}
	if claims := w.state.Claims(); len(claims) > 0 {
		return broken("I12 Progress", "%d claims are left", len(claims))
	}
	return nil
}
