// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
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
		if n, _ := w.state.Graph().Get(need); n.Lifecycle.Live() && !w.cloud.exists[number(need)] {
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
		if n, _ := w.state.Graph().Get(need); !w.cloud.exists[number(need)] && n.Lifecycle != graph.Unknown {
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

// checkState judges a state by itself.
func checkState(w *world) *Violation {
	for _, check := range []func(*world) *Violation{checkLocks, checkHoldings, checkKnowledge, checkWaits} {
		if v := check(w); v != nil {
			return v
		}
	}
	if !w.state.Settled() {
		return broken("I13 NoLostWakeup", "judging the queue again changes it")
	}
	return nil
}

// checkLocks: holders of one node are compatible, and hold the intention above.
func checkLocks(w *world) *Violation {
	table := w.state.Locks()
	for _, n := range table.Nodes() {
		holders := table.Holders(n)
		for i, a := range holders {
			for _, b := range holders[i+1:] {
				if !mode.Compatible(a.Mode, b.Mode) {
					return broken("I1 CompatibleHolders", "%s: %v and %v", n, a, b)
				}
			}
			up, ok := w.state.Graph().Parent(n)
			if !ok {
				continue
			}
			plan, _ := table.Held(a.Owner)
			if !mode.Covers(plan.Mode(up), mode.Intention(a.Mode)) {
				return broken("I3 AncestorsIntended", "%s holds %s on %s without %s", a.Owner, a.Mode, n, up)
			}
		}
	}
	return nil
}

// checkHoldings: who holds, holds the whole plan; who does not, nothing; and
// whose call may be running, holds.
func checkHoldings(w *world) *Violation {
	table := w.state.Locks()
	for i := range w.config.Ops {
		tx, ok := w.state.Tx(txID(i))
		if !ok {
			continue
		}
		held := 0
		for _, want := range tx.Locks {
			for _, h := range table.Holders(want.Node) {
				if h.Owner == lock.Owner(tx.ID) && h.Mode == want.Mode {
					held++
				}
			}
		}
		switch {
		case tx.Status.Holds() && held != len(tx.Locks), !tx.Status.Holds() && held != 0:
			return broken("I4 AllOrNothing", "%s is %s and holds %d of %d", tx.ID, tx.Status, held, len(tx.Locks))
		case w.runs[i].inflight && held != len(tx.Locks):
			return broken("I8 NoRunningWithoutLock", "%s may be running and holds %d of %d", tx.ID, held, len(tx.Locks))
		}
	}
	return nil
}

// checkKnowledge: where no call may be running, the graph is right about what
// exists, and knows every reference.
func checkKnowledge(w *world) *Violation {
	for i, o := range objects {
		n, ok := w.state.Graph().Get(o)
		if ok && w.changing(o) && n.Lifecycle != graph.Uncertain && !underway(n.Lifecycle) {
			return broken("I24 ObservationOrder", "%s is %q to the graph while it is being changed", o, n.Lifecycle)
		}
		if !ok || n.Lifecycle == graph.Unknown || w.disturbed(o) {
			continue
		}
		if n.Lifecycle.Live() != w.cloud.exists[i] {
			return broken("I24 ObservationOrder", "%s is %q to the graph, exists: %t", o, n.Lifecycle, w.cloud.exists[i])
		}
		for to := range objects {
			known := w.state.Graph().HasEdge(graph.Edge{From: o, To: objects[to], Kind: graph.References})
			if w.cloud.refs[i]&(1<<to) != 0 && !known {
				return broken("P4 Unreferenced", "the graph lost the reference of %s to %s", o, objects[to])
			}
		}
	}
	return nil
}

func underway(l graph.Lifecycle) bool {
	return l == graph.Creating || l == graph.Updating || l == graph.Deleting
}

// changing says whether a call that may be running has the object as its own.
func (w *world) changing(id graph.NodeID) bool {
	for i := range w.config.Ops {
		if op := &w.config.Ops[i]; w.runs[i].inflight && op.Self == id && !op.reads() {
			return true
		}
	}
	return false
}

func (w *world) disturbed(id graph.NodeID) bool {
	for i := range w.config.Ops {
		op := &w.config.Ops[i]
		if w.runs[i].inflight && (op.Self == id || meet(op.writes, []touch{the(id)})) {
			return true
		}
	}
	return false
}

// checkWaits: the waits-for graph, with the runs' own order in it, has no
// cycle (I22).
func checkWaits(w *world) *Violation {
	var waits [maxOps][]int
	for i := range w.config.Ops {
		tx, ok := w.state.Tx(txID(i))
		switch {
		case !ok:
			for _, a := range w.config.Ops[i].After {
				if !w.runs[a].told {
					waits[i] = append(waits[i], a)
				}
			}
		case tx.Status == admission.Queued:
			for _, b := range w.state.Blockers(tx.ID) {
				if j := w.number(b.Holder); j >= 0 {
					waits[i] = append(waits[i], j)
				}
			}
		}
	}
	var colour [maxOps]int
	var visit func(int) bool
	visit = func(i int) bool {
		colour[i] = 1
		for _, j := range waits[i] {
			if colour[j] == 1 || colour[j] == 0 && visit(j) {
				return true
			}
		}
		colour[i] = 2
		return false
	}
	for i := range w.config.Ops {
		if colour[i] == 0 && visit(i) {
			return broken("I22 WaitForAcyclic", "%v", waits)
		}
	}
	return nil
}

// checkProgress lets every call end and nothing new arrive: then the queue
// empties, once those who promised objects and will not make them have left.
func checkProgress(from *world) *Violation {
	if len(from.state.Waiting()) == 0 {
		return nil
	}
	w := from.clone()
	for range 4 * maxOps {
		if w.work() {
			continue
		}
		waiting := w.state.Waiting()
		if len(waiting) == 0 {
			return nil
		}
		for _, id := range waiting {
			if !w.awaitsTruly(w.op(id)) {
				return broken("I12 Progress", "%s waits and nothing will wake it", w.op(id).Name)
			}
		}
		if !w.breakPromise() {
			return broken("I12 Progress", "%v wait for promises that nobody made", waiting)
		}
	}
	return broken("I12 Progress", "no end in sight")
}

// work brings one transaction that holds locks a step further.
func (w *world) work() bool {
	for i := range w.config.Ops {
		tx, _ := w.state.Tx(txID(i))
		if !tx.Status.Holds() {
			continue
		}
		m := move{start, i}
		if tx.Status != admission.Admitted {
			m.kind = fail
			if w.possible(&w.config.Ops[i]) {
				m.kind = succeed
			}
		}
		_, _, err := w.step(m)
		return err == nil
	}
	return false
}

func (w *world) breakPromise() bool {
	for i := range w.config.Policies {
		if w.declared[i] && !w.gone[i] {
			_, _, err := w.step(move{leave, i})
			return err == nil
		}
	}
	return false
}

// checkReplay: folding the decisions onto the state before gives the state
// after, and so does reading the state back from a snapshot (I14). A repeated
// command changes nothing (I27), nor does one from the past (I28).
func checkReplay(before, w *world, c admission.Command, events []admission.Event, thorough bool) *Violation {
	hash := w.state.Hash()
	if len(events) > 0 && before.state.Index()+1 == w.state.Index() {
		replica := before.state.Clone()
		if err := replica.Fold(w.state.Index(), w.state.Now(), events); err != nil || replica.Hash() != hash {
			return broken("I14 ReplayEqual", "fold of %T: %v", c, err)
		}
	}
	past := w.state.Clone()
	if _, err := past.Apply(admission.Expire{Stamp: w.tick(-1)}); !errors.Is(err, admission.ErrTimeBack) {
		return broken("I28 TimeMonotone", "the past was accepted: %v", err)
	}
	if repeatable(c, w) {
		if again, err := past.Apply(c); err != nil || len(again) > 0 {
			return broken("I27 SameKeySameAnswer", "%T again: %v %v", c, again, err)
		}
	}
	if past.Hash() != hash {
		return broken("I27 SameKeySameAnswer", "%T again, or an earlier one, changed the state", c)
	}
	if thorough {
		return checkCodec(before, w, c, events)
	}
	return nil
}

// repeatable commands have an answer that is given again.
func repeatable(c admission.Command, w *world) bool {
	switch c := c.(type) {
	case admission.Submit:
		tx, _ := w.state.Tx(c.ID)
		return tx.Status != admission.Stale
	case admission.Start, admission.Complete, admission.Withdraw:
		return true
	case admission.CloseSession:
		_, known := w.state.Session(c.Session) // nothing mentions it: forgotten
		return known
	default:
		return false
	}
}

func checkCodec(before, w *world, c admission.Command, events []admission.Event) *Violation {
	data, err := admission.EncodeRecord(admission.Record{
		Index: w.state.Index(), Now: w.state.Now(), Command: c, Events: events,
	})
	if err != nil {
		return broken("I14 ReplayEqual", "encode: %v", err)
	}
	r, err := admission.DecodeRecord(data)
	if err != nil {
		return broken("I14 ReplayEqual", "decode: %v", err)
	}
	saved, err := before.state.MarshalJSON()
	if err != nil {
		return broken("I14 ReplayEqual", "snapshot: %v", err)
	}
	replica := admission.New()
	if err := replica.UnmarshalJSON(saved); err != nil {
		return broken("I14 ReplayEqual", "read snapshot: %v", err)
	}
	if replica.Hash() != before.state.Hash() {
		return broken("I14 ReplayEqual", "a snapshot is not the state")
	}
	if len(events) == 0 || before.state.Index()+1 != w.state.Index() {
		return nil
	}
	if err := replica.Fold(r.Index, r.Now, r.Events); err != nil || replica.Hash() != w.state.Hash() {
		return broken("I14 ReplayEqual", "fold onto a snapshot: %v", err)
	}
	return nil
}
