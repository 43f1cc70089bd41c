// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"pgregory.net/rapid"
)

// The moves of a random history that are about plans, capacity and settlement.

func anyEffects(t *rapid.T) escrow.Effects {
	var list []escrow.Effect
	for range rapid.IntRange(0, 2).Draw(t, "effects") {
		list = append(list, escrow.Effect{
			Bucket: anyBucket(t), Amount: int64(rapid.SampledFrom([]int{1, 2, 3, -1, -2}).Draw(t, "amount")),
		})
	}
	return escrow.Collect(list...)
}

func anyBucket(t *rapid.T) escrow.Key {
	return rapid.SampledFrom([]escrow.Key{"q", "r/g0/v0#ips", "r/g1#slots"}).Draw(t, "bucket")
}

// anyLocks are X on an object, and sometimes S on another one.
func (h *history) anyLocks(t *rapid.T, self graph.NodeID, nodes *[]graph.Decl) lock.Plan {
	*nodes = append(*nodes, place(self)...)
	wants := []lock.Want{{Node: self, Mode: mode.X, Relation: lock.Same, Rule: "sim/self"}}
	if rapid.Bool().Draw(t, "reads") {
		p := anyPath(t)
		*nodes = append(*nodes, place(p)...)
		wants = append(wants, lock.Want{Node: p, Mode: mode.S, Relation: lock.Reference, Rule: "sim/ref"})
	}
	return lock.Close(wants, newPlacement(h.state.graph, *nodes).parent)
}

func (h *history) anyGuards(t *rapid.T, self graph.NodeID, nodes []graph.Decl) []Guard {
	kinds := []GuardKind{Present, Unreferenced, Version, SameLife}
	var list []Guard
	for _, k := range rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 1).Draw(t, "guards") {
		n := self
		if k == Present {
			n = nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")].ID
		}
		g := Guard{Kind: k, Node: n}
		if known, ok := h.state.Graph().Get(n); ok {
			g.Value = map[GuardKind]uint64{Version: known.Version, SameLife: known.Incarnation}[k]
		}
		list = append(list, g)
	}
	return list
}

// reserve submits a plan of a few calls, some of which belong together.
func (h *history) reserve(t *rapid.T) {
	h.txs++
	q := Request{
		Session: h.anySession(t), Key: uint64(h.txs), Action: Reserve, Nodes: place("r"),
		Whole: rapid.IntRange(0, 5).Draw(t, "whole") == 0, Advisory: rapid.IntRange(0, 9).Draw(t, "advisory") == 0,
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "calls") {
		c := Planned{
			ID: CallID(fmt.Sprintf("c%d", i)), Self: anyPath(t), Effects: anyEffects(t),
			Action: rapid.SampledFrom([]Action{Create, Update, Delete}).Draw(t, "action"),
			Group:  rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "group"),
		}
		c.Locks = h.anyLocks(t, c.Self, &q.Nodes)
		c.Guards = h.anyGuards(t, c.Self, q.Nodes)
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "after") == 0 {
				c.After = append(c.After, CallID(fmt.Sprintf("c%d", j)))
			}
		}
		q.Calls = append(q.Calls, c)
	}
	h.apply(t, Submit{Stamp: h.at(), ID: TxID(fmt.Sprintf("t%d", h.txs)), Request: q})
}

// call submits a call that a plan foresaw, mostly as it was foreseen.
func (h *history) call(t *rapid.T) {
	plans := slices.DeleteFunc(h.state.Transactions(), func(tx Tx) bool { return tx.Action != Reserve })
	if len(plans) == 0 {
		return
	}
	p := plans[rapid.IntRange(0, len(plans)-1).Draw(t, "plan")]
	c := p.Calls[rapid.IntRange(0, len(p.Calls)-1).Draw(t, "call")]
	h.txs++
	q := Request{
		Session: p.Session, Key: uint64(h.txs), Address: string(c.Self), Type: "sim_thing", Self: c.Self, Action: c.Action,
		Nodes: p.Nodes, Locks: c.Locks, Guards: c.Guards, Effects: c.Effects, Plan: p.ID, Call: c.ID,
		Advisory: rapid.IntRange(0, 9).Draw(t, "advisory") == 0, Lands: 5, Timeout: 20,
	}
	switch rapid.IntRange(0, 7).Draw(t, "differs") {
	case 0:
		q.Effects = anyEffects(t)
	case 1:
		q.Nodes = slices.Clone(q.Nodes)
		q.Locks = h.anyLocks(t, c.Self, &q.Nodes)
	case 2:
		q.Locks = nil
	}
	h.apply(t, Submit{Stamp: h.at(), ID: TxID(fmt.Sprintf("t%d", h.txs)), Request: q})
}

func (h *history) measure(t *rapid.T) {
	c := Measure{Stamp: h.at(), Session: h.anySession(t), Began: h.began(t)}
	for range rapid.IntRange(1, 2).Draw(t, "readings") {
		r := Reading{Bucket: anyBucket(t)}
		if rapid.IntRange(0, 3).Draw(t, "limited") > 0 {
			r.Limit = escrow.At(int64(rapid.IntRange(0, 8).Draw(t, "limit")))
		}
		if rapid.IntRange(0, 3).Draw(t, "used") > 0 {
			r.Use = escrow.At(int64(rapid.IntRange(0, 4).Draw(t, "use")))
		}
		c.Readings = append(c.Readings, r)
	}
	h.apply(t, c)
}

// began is an index at which a read may have begun.
func (h *history) began(t *rapid.T) uint64 {
	return h.state.Index() - uint64(rapid.IntRange(0, min(6, int(h.state.Index()))).Draw(t, "late"))
}

func (h *history) settle(t *rapid.T) {
	pause := int64(rapid.IntRange(1, 30).Draw(t, "pause"))
	at := Stamp{Now: h.state.Now() + pause}
	h.apply(t, Settle{
		Stamp: at, Session: h.anySession(t), Tx: h.anyTx(t).ID, Began: h.began(t),
		BeganAt: at.Now - int64(rapid.IntRange(0, 10).Draw(t, "took")),
		Exists:  rapid.Bool().Draw(t, "exists"), Terminal: rapid.IntRange(0, 3).Draw(t, "terminal") > 0,
	})
}

func (h *history) bury(t *rapid.T) {
	h.apply(t, Deceased{Stamp: h.at(), Session: h.anySession(t)})
}

func (h *history) pass(t *rapid.T) {
	h.apply(t, Pass{
		Stamp: h.at(), Tx: h.anyTx(t).ID, By: "x", Reason: "y",
		Mode: rapid.SampledFrom([]string{"wait", "offline", "override"}).Draw(t, "mode"),
	})
}

// checkClaims: nobody holds what a claim of another run excludes.
func (h *history) checkClaims(t *rapid.T) {
	claims := h.state.Claims()
	for i, c := range claims {
		p, ok := h.state.Tx(c.Plan)
		if !ok || p.Status != Admitted {
			t.Fatalf("claim %s of plan %s, which is %q", c.ID, c.Plan, p.Status)
		}
		for _, w := range c.Locks {
			for _, x := range h.state.locks.Holders(w.Node) {
				if tx, _ := h.state.Tx(TxID(x.Owner)); tx.Session != p.Session && !mode.Compatible(x.Mode, w.Mode) {
					t.Fatalf("%s is held by %s inside claim %s", w.Node, tx.ID, c.ID)
				}
			}
		}
		for _, o := range claims[i+1:] {
			q, _ := h.state.Tx(o.Plan)
			if _, _, clash := c.Locks.Clash(o.Locks); clash && q.Session != p.Session {
				t.Fatalf("claims %s and %s of two runs exclude each other", c.ID, o.ID)
			}
		}
	}
}

// checkCapacity: the sums are those of the holds (I7), every hold is
// somebody's, and no call that may still have an effect lost what it holds.
func (h *history) checkCapacity(t *rapid.T) {
	table := h.state.Capacity()
	for _, k := range table.Buckets() {
		var plus, minus int64
		for _, x := range table.Shares(k) {
			plus, minus = plus+x.Plus, minus+x.Minus
		}
		level := table.Level(k)
		if level.Plus != plus || level.Minus != minus {
			t.Fatalf("%s: %d and %d in flight, the holds come to %d and %d", k, level.Plus, level.Minus, plus, minus)
		}
		if _, measured := h.last.(Measure); level.Overcommitted && !h.over[k] && !measured {
			t.Fatalf("%s: %T brought it over its limit: %+v", k, h.last, level)
		}
		h.over[k] = level.Overcommitted
	}
	used := map[escrow.Owner]bool{}
	for _, tx := range h.state.Transactions() {
		if !tx.Status.Holds() {
			continue
		}
		owner, call, ok := h.state.holdOf(&tx)
		if tx.Action == Reserve {
			owner = escrow.Owner(tx.ID)
		}
		used[owner] = true
		if tx.Passed != nil || len(tx.Effects) == 0 {
			continue
		}
		if !ok {
			t.Fatalf("%s is %s and holds nothing of what it may change", tx.ID, tx.Status)
		}
		calls := table.Calls(owner)
		i := slices.IndexFunc(calls, func(c escrow.Held) bool { return c.ID == call })
		held := calls[i]
		if held.Started != tx.StartedIndex || held.Uncertain != (tx.Status == Uncertain) || !slices.Equal(held.Effects, tx.Effects) {
			t.Fatalf("%s is %s since %d, changes %v and holds %+v", tx.ID, tx.Status, tx.StartedIndex, tx.Effects, held)
		}
	}
	for _, owner := range table.Owners() {
		if _, known := h.state.Tx(TxID(owner)); !used[owner] || !known {
			t.Fatalf("%s holds capacity for nobody", owner)
		}
	}
}
