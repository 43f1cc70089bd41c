// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package core_test

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// The moves of a story that are about plans, and about requests that make no
// sense.

// reserve submits a plan of a few calls, among them replaces.
func (t *story) reserve() admission.Command {
	t.txs++
	q := admission.Request{
		Session: t.session(), Key: uint64(t.txs), Action: admission.Reserve, Nodes: placed("r"),
		Whole: t.chance(7), Advisory: t.chance(15),
	}
	for i := range 1 + t.r.IntN(5) {
		self := t.path()
		c := admission.Planned{
			ID: admission.CallID(fmt.Sprintf("c%d", i)), Self: self, Effects: t.effects(), Address: "sim." + string(self),
			Action: pick(t, admission.Create, admission.Update, admission.Delete),
			Group:  pick(t, "", "", "one", "two"),
		}
		nodes, wants, _ := t.wants(self, c.Action)
		q.Nodes = append(q.Nodes, nodes...)
		c.Locks, c.Guards = t.locks(nodes, wants), t.guards(self, nodes)
		for j := range i {
			if t.chance(3) {
				c.After = append(c.After, admission.CallID(fmt.Sprintf("c%d", j)))
			}
		}
		q.Calls = append(q.Calls, c)
	}
	return t.told(admission.Submit{Stamp: t.stamp(), ID: admission.TxID(fmt.Sprintf("t%d", t.txs)), Request: q})
}

// call submits what a plan foresaw, mostly as it was foreseen and in its order.
func (t *story) call() admission.Command {
	var plans []admission.Tx
	for _, tx := range t.s.Transactions() {
		if tx.Action == admission.Reserve && len(tx.Calls) > 0 && (!tx.Status.Final() || t.chance(12)) {
			plans = append(plans, tx)
		}
	}
	if len(plans) == 0 {
		return t.reserve()
	}
	p := pick(t, plans...)
	c := pick(t, p.Calls...)
	t.txs++
	q := admission.Request{
		Session: p.Session, Key: uint64(t.txs), Address: "sim." + string(c.Self), Type: "sim_thing", Self: c.Self, Action: c.Action,
		Nodes: p.Nodes, Locks: c.Locks, Guards: c.Guards, Effects: c.Effects, Plan: p.ID, Call: c.ID,
		Advisory: t.chance(15), Lands: 5 * second, Timeout: 20 * second,
	}
	switch t.r.IntN(14) {
	case 0:
		q.Effects = t.effects()
	case 1:
		nodes, wants, edges := t.wants(c.Self, c.Action)
		q.Nodes, q.Locks, q.Edges = append(nodes, p.Nodes...), t.locks(nodes, wants), edges
	case 2:
		q.Guards = t.guards(c.Self, p.Nodes)
	case 3:
		q.Plan, q.Call = "", ""
	case 4:
		q.Call += "?"
	}
	return t.told(admission.Submit{Stamp: t.stamp(), ID: admission.TxID(fmt.Sprintf("t%d", t.txs)), Request: q})
}

// spoil makes a request senseless.
func (t *story) spoil() admission.Command {
	c := pick(t, t.submit, t.reserve)().(admission.Submit)
	q := &c.Request
	switch t.r.IntN(12) {
	case 0:
		q.Edges = append(q.Edges, graph.Edge{From: "r/g0", To: "r/g1", Kind: graph.References})
	case 1:
		q.Locks = append(q.Locks, lock.Want{Node: "z/nowhere", Mode: mode.X, Relation: lock.Same})
	case 2:
		if len(q.Locks) > 1 {
			q.Locks = q.Locks[1:]
		}
	case 3:
		q.Nodes = append(q.Nodes, graph.Decl{ID: "r/g1", Parent: "r/g0", Kind: graph.Resource})
	case 4:
		q.Guards = append(q.Guards, admission.Guard{Kind: pick(t, admission.Present, "else"), Node: pick(t, q.Self, "z/nowhere")})
	case 5:
		q.Action = pick(t, "", admission.Create, admission.Reserve)
	case 6:
		q.Calls = append(q.Calls, admission.Planned{ID: pick[admission.CallID](t, "", "a", "z"), Self: "r", Action: admission.Update})
	case 7:
		if len(q.Calls) > 0 {
			q.Calls[0].After = append(q.Calls[0].After, pick[admission.CallID](t, "c0", "c1", "z"))
		}
	case 8:
		q.Plan, q.Call = pick[admission.TxID](t, "", "t1", "z"), "c0"
	case 9:
		q.Whole = true
	case 10:
		c.ID = pick[admission.TxID](t, "", "t1", "t2")
	case 11:
		c.Now -= pick(t, 1, 100*second)
	}
	return c
}
