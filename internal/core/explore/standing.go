// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

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
