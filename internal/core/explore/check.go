// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Violation is a broken invariant.
type Violation struct {
	Invariant string // as numbered in the specification
	What      string
}

// Error gives the invariant first.
func (v *Violation) Error() string { return v.Invariant + ": " + v.What }

func broken(invariant, format string, args ...any) *Violation {
	return &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)}
}

// checkState judges a state of the core by itself, once.
func checkState(c *Config, n *node) *Violation {
	table := n.state.Locks()
	for _, id := range table.Nodes() {
		holders := table.Holders(id)
		if v := checkCompatible(string(id), holders); v != nil {
			return v
		}
		if v := checkAncestors(table, id, holders, n.state.Graph().Parent); v != nil {
			return v
		}
	}
	for _, check := range []func(*Config, *node) *Violation{checkHoldings, checkClaims, checkSums, checkWaits} {
		if v := check(c, n); v != nil {
			return v
		}
	}
	return checkSettled(n.state)
}

// checkSettled: judging the queue again changes nothing.
func checkSettled(s interface{ Settled() bool }) *Violation {
	if !s.Settled() {
		return broken("I13 NoLostWakeup", "judging the queue again changes it")
	}
	return nil
}

// checkAncestors: who holds a node has announced that on the node above.
func checkAncestors(t *lock.Table, id graph.NodeID, holders []lock.Holder, parent func(graph.NodeID) (graph.NodeID, bool)) *Violation {
	up, ok := parent(id)
	if !ok {
		return nil
	}
	for _, h := range holders {
		if plan, _ := t.Held(h.Owner); !mode.Covers(plan.Mode(up), mode.Intention(h.Mode)) {
			return broken("I3 AncestorsIntended", "%s holds %s on %s without %s", h.Owner, h.Mode, id, up)
		}
	}
	return nil
}

// checkCompatible: all holders of one node are compatible.
func checkCompatible(id string, holders []lock.Holder) *Violation {
	for i, a := range holders {
		for _, b := range holders[i+1:] {
			if !mode.Compatible(a.Mode, b.Mode) {
				return broken("I1 CompatibleHolders", "%s: %v and %v", id, a, b)
			}
		}
	}
	return nil
}

// checkHoldings: who holds, holds the whole plan; who does not, nothing.
func checkHoldings(c *Config, n *node) *Violation {
	table := n.state.Locks()
	for i := range c.Ops {
		tx, ok := n.state.Tx(txID(i))
		if !ok {
			continue
		}
		held, want := 0, len(tx.Locks)
		for _, w := range tx.Locks {
			for _, h := range table.Holders(w.Node) {
				if h.Owner == lock.Owner(tx.ID) && h.Mode == w.Mode {
					held++
				}
			}
		}
		if v := checkHolding(&tx, held, want); v != nil {
			return v
		}
	}
	return nil
}

func checkHolding(tx *admission.Tx, held, want int) *Violation {
	if !tx.Status.Holds() || tx.Passed != nil {
		want = 0
	}
	if held != want {
		return broken("I4 AllOrNothing", "%s is %s and holds %d of %d", tx.ID, tx.Status, held, want)
	}
	return nil
}

// checkClaims: nobody holds what a claim of another run excludes.
func checkClaims(_ *Config, n *node) *Violation {
	claims := n.state.Claims()
	for i, x := range claims {
		p, _ := n.state.Tx(x.Plan)
		for _, w := range x.Locks {
			for _, h := range n.state.Locks().Holders(w.Node) {
				if tx, _ := n.state.Tx(admission.TxID(h.Owner)); tx.Session != p.Session && !mode.Compatible(h.Mode, w.Mode) {
					return broken("I1 CompatibleHolders", "%s holds %s inside claim %s", tx.ID, w.Node, x.ID)
				}
			}
		}
		for _, o := range claims[i+1:] {
			q, _ := n.state.Tx(o.Plan)
			if _, _, clash := x.Locks.Clash(o.Locks); clash && q.Session != p.Session {
				return broken("I1 CompatibleHolders", "claims %s and %s", x.ID, o.ID)
			}
		}
	}
	return nil
}

// checkSums: what is in flight is what the holds come to, and what could be in
// use is within the limit unless that is flagged.
func checkSums(c *Config, n *node) *Violation {
	if !c.Capacity {
		return nil
	}
	table := n.state.Capacity()
	for b := range buckets {
		if v := checkSum(table.Level(bucketKey(b)), table.Shares(bucketKey(b))); v != nil {
			return v
		}
	}
	return nil
}

func checkSum(l escrow.Level, shares []escrow.Share) *Violation {
	var plus, minus int64
	for _, x := range shares {
		plus, minus = plus+x.Plus, minus+x.Minus
	}
	if l.Plus != plus || l.Minus != minus {
		return broken("I7 SumsAgree", "%s has %d and %d in flight, the holds come to %d and %d", l.Bucket, l.Plus, l.Minus, plus, minus)
	}
	if l.Known && l.Limit.Set && l.Sup > l.Limit.Value && !l.Overcommitted {
		return broken("I5 EscrowSup", "%s may reach %d of %d, and nobody says so", l.Bucket, l.Sup, l.Limit.Value)
	}
	return nil
}

// checkWaits: every wait has a reason, and the waits-for graph, with the runs'
// own order in it, has no cycle.
func checkWaits(c *Config, n *node) *Violation {
	var waits [maxOps + maxSessions]uint16
	for _, id := range n.state.Waiting() {
		why := n.state.Blockers(id)
		if len(why) == 0 {
			return broken("I17 Attribution", "%s waits for no reason", id)
		}
		from := placeOf(id)
		for _, b := range why {
			if j := placeOf(b.Holder); from >= 0 && j >= 0 {
				waits[from] |= 1 << j
			}
		}
	}
	for i := range c.Ops {
		if n.status[i] != none {
			continue
		}
		for _, a := range c.Ops[i].After {
			if !n.status[a].final() {
				waits[i] |= 1 << a
			}
		}
		if s := c.Ops[i].Session; c.planned(i) && n.plans[s] == queued {
			waits[i] |= 1 << (maxOps + s)
		}
	}
	return checkAcyclic(waits)
}

// placeOf numbers transactions: operations, then reservations.
func placeOf(id admission.TxID) int {
	if i := numberOf(id); i >= 0 {
		return i
	}
	for s, p := range planIDs {
		if p == id {
			return maxOps + s
		}
	}
	return -1
}

func checkAcyclic(waits [maxOps + maxSessions]uint16) *Violation {
	open := uint16(1)<<len(waits) - 1
	for changed := true; changed; {
		changed = false
		for i := range waits {
			if open&(1<<i) != 0 && waits[i]&open == 0 {
				open &^= 1 << i
				changed = true
			}
		}
	}
	if open != 0 {
		return broken("I22 WaitForAcyclic", "%b: %b", open, waits)
	}
	return nil
}
