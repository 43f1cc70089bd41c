// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Violation is a broken invariant.
type Violation struct {
	Invariant string // as numbered in the specification
	What      string
}

func (v *Violation) Error() string { return v.Invariant + ": " + v.What }

func broken(invariant, format string, args ...any) *Violation {
	return &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)}
}

// checkStep judges one move: before is the world it was made in, w the world
// after it.
func checkStep(before, w *world, m move, events []admission.Event) *Violation {
	if m.kind == start {
		if v := checkStart(before, m.who); v != nil {
			return v
		}
	}
	last := tokens(before)
	for _, e := range events {
		switch e := e.(type) {
		case admission.TxAdmitted:
			if e.Token <= last {
				return broken("I10 TokenMonotone", "%s got token %d after %d", e.Tx, e.Token, last)
			}
			last = e.Token
			if v := checkGrant(w, e.Tx); v != nil {
				return v
			}
		case admission.TxQueued:
			if v := checkAttribution(w, e.Tx, e.Blockers); v != nil {
				return v
			}
		case admission.TxRejected:
			if v := checkRefusal(w, e.Tx, e.Blockers); v != nil {
				return v
			}
		case admission.TxStaled:
			if len(e.Blockers) == 0 || e.Blockers[0].Guard != admission.Version {
				return broken("I17 Attribution", "%s is stale without a version", e.Tx)
			}
		}
	}
	return checkFates(before, w, m)
}

// guessed says whether the graph takes an object for there only because a call
// is changing it that nobody has ever seen.
func (w *world) guessed(id graph.NodeID) bool { return w.config.Blind && w.changing(id) }

func tokens(w *world) uint64 {
	var last uint64
	for i := range w.config.Ops {
		if tx, ok := w.state.Tx(txID(i)); ok {
			last = max(last, tx.Token)
		}
	}
	return last
}

// checkStart judges the moment from which a call may reach the cloud.
func checkStart(w *world, i int) *Violation {
	op, r := &w.config.Ops[i], &w.runs[i]
	for j := range w.config.Ops {
		if j != i && w.runs[j].inflight && op.disturbs(&w.config.Ops[j]) {
			return broken("I2 NoProviderOverlap", "%s starts while %s may be running", op.Name, w.config.Ops[j].Name)
		}
	}
	for _, need := range op.Requires {
		if n, _ := w.state.Graph().Get(need); n.Lifecycle.Live() && !w.cloud.exists[number(need)] && !w.guessed(need) {
			return broken("Present", "%s starts, and %s went away behind the locks", op.Name, need)
		}
	}
	self := number(op.Self)
	if op.Remove {
		if from := w.cloud.referrer(self); from >= 0 {
			return broken("P4 Unreferenced", "%s starts while %s refers to it", op.Name, objects[from])
		}
		if child := w.cloud.foreignChild(self, op.Session); child >= 0 {
			return broken("P4 Unreferenced", "%s starts over another state's %s", op.Name, objects[child])
		}
	}
	if op.versioned != "" && w.cloud.foreignEdits(number(op.versioned), op.Session) != r.seenEdits {
		return broken("I20 VersionGuard", "%s starts on a plan that others have outdated", op.Name)
	}
	if op.lived != "" && w.cloud.life[number(op.lived)] != r.seenLife {
		return broken("SameLife", "%s starts on another life of its object", op.Name)
	}
	return nil
}

// checkGrant: what an operation needs is there, as far as anybody can know, and
// nothing is granted over an earlier waiter that it disturbs, unless that one
// waits for something that is yet to be made.
func checkGrant(w *world, granted admission.TxID) *Violation {
	tx, _ := w.state.Tx(granted)
	op := w.op(granted)
	for _, need := range op.Requires {
		if n, _ := w.state.Graph().Get(need); !w.cloud.exists[number(need)] && n.Lifecycle != graph.Unknown && !w.guessed(need) {
			return broken("Present", "%s is granted without %s", op.Name, need)
		}
	}
	for _, id := range w.state.Waiting() {
		other, _ := w.state.Tx(id)
		if other.Ticket < tx.Ticket && op.disturbs(w.op(id)) && !w.awaitsTruly(w.op(id)) {
			return broken("I11 FIFO", "%s is granted over %s", op.Name, w.op(id).Name)
		}
	}
	return nil
}

func (w *world) op(id admission.TxID) *Op {
	for i := range w.config.Ops {
		if txID(i) == id {
			return &w.config.Ops[i]
		}
	}
	return nil
}

// checkAttribution: every wait says what for, and for whom.
func checkAttribution(w *world, id admission.TxID, why []admission.Blocker) *Violation {
	if len(why) == 0 {
		return broken("I17 Attribution", "%s waits for no reason", id)
	}
	for _, b := range why {
		named := b.Guard != "" && b.Fact != "" || b.Want != "" && b.Held != "" && b.Holder != ""
		if b.Node == "" || !named || b.Holder == id {
			return broken("I17 Attribution", "%s waits, reason %+v", id, b)
		}
		if b.Holder == "" || b.Guard != "" {
			continue
		}
		h, _ := w.state.Tx(b.Holder)
		if b.HolderSession != h.Session || b.HolderIntent != h.Intent || b.Ahead == h.Status.Holds() {
			return broken("I17 Attribution", "%s waits, reason %+v, but %s is %s", id, b, h.ID, h.Status)
		}
	}
	return nil
}

// checkRefusal: a refusal has a ground in the cloud, or in the policy of the
// session, and is never the session's own doing.
func checkRefusal(w *world, id admission.TxID, why []admission.Blocker) *Violation {
	op := w.op(id)
	if len(why) == 0 {
		return broken("I17 Attribution", "%s is refused for no reason", op.Name)
	}
	grounds := false
	for _, b := range why {
		switch {
		case b.Guard == "" || b.Fact == "declared":
			grounds = grounds || w.config.Policies[op.Session] == admission.Reject && b.HolderSession != sessionID(op.Session)
		case b.Guard == admission.Present:
			grounds = grounds || !w.cloud.exists[number(b.Node)]
		case b.Guard == admission.Unreferenced:
			self := number(op.Self)
			grounds = grounds || w.cloud.referrer(self) >= 0 || w.cloud.foreignChild(self, op.Session) >= 0
		case b.Guard == admission.SameLife:
			o := number(b.Node)
			grounds = grounds || w.cloud.life[o] != w.runs[w.number(id)].seenLife || !w.cloud.exists[o]
		}
	}
	if !grounds {
		return broken("I17 Attribution", "%s is refused without ground: %+v", op.Name, why)
	}
	return nil
}

func (w *world) number(id admission.TxID) int {
	for i := range w.config.Ops {
		if txID(i) == id {
			return i
		}
	}
	return -1
}

// checkFates: only an answer about a running call, or a person, ends it.
func checkFates(before, w *world, m move) *Violation {
	for i := range w.config.Ops {
		old, _ := before.state.Tx(txID(i))
		tx, _ := w.state.Tx(txID(i))
		if old.Status != admission.Actioning && old.Status != admission.Uncertain || old.Status == tx.Status {
			continue
		}
		told := m.who == i && (m.kind == succeed || m.kind == fail || m.kind == notSent || m.kind == resolve || m.kind == refute)
		if tx.Status.Final() && !told {
			return broken("I18 UncertainKept", "%s went from %s to %s by %s", tx.ID, old.Status, tx.Status, m)
		}
	}
	return nil
}
