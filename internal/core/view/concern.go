// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// Touched says whether the session may notice a transition: the events that led
// from one state to another. If not, its projections of the two are equal to
// the byte: the unwinding condition of confinement.
func (l *Lens) Touched(before, after *admission.State, events []admission.Event) bool {
	if len(events) == 0 {
		return false
	}
	if l.open {
		return true
	}
	old, now := l.scope(before), l.scope(after)
	return slices.ContainsFunc(events, func(e admission.Event) bool { return old.concerned(e) || now.concerned(e) })
}

// Concerns says whether the session may notice one decision, judged on a state
// before or after it. What becomes visible is known after it, and what ceases to
// be so, before: a transition is noticed if either says so.
func (l *Lens) Concerns(s *admission.State, e admission.Event) bool {
	return l.open || l.scope(s).concerned(e)
}

func (c *scope) concerned(e admission.Event) bool {
	switch e := e.(type) {
	case admission.SessionOpened:
		return c.is(e.Session.ID)
	case admission.LeaseRenewed:
		return c.is(e.Session)
	case admission.IntentAdded:
		return c.is(e.Intent.Session)
	case admission.SenderDied:
		return c.is(e.Session)
	case admission.Declared:
		return c.is(e.Session)
	case admission.SessionEnded:
		return c.is(e.Session) || c.standsFor(e.Session)
	case admission.NodesPlaced:
		return slices.ContainsFunc(e.Nodes, func(d graph.Decl) bool { return c.sees(d.ID) })
	case admission.Observed:
		return slices.ContainsFunc(e.Objects, c.observed)
	case admission.Measured:
		return slices.ContainsFunc(e.Readings, func(r admission.Reading) bool { return c.counts(r.Bucket) })
	case admission.ClaimAdmitted:
		return c.concernedByClaim(e.Claim)
	case admission.ClaimEnded:
		return c.concernedByEnd(e)
	default:
		return c.concernedByTx(e)
	}
}

// concernedByTx judges a decision about a transaction. Those that hold nothing
// are seen by nobody else.
func (c *scope) concernedByTx(e admission.Event) bool {
	switch e := e.(type) {
	case admission.TxSubmitted:
		return c.is(e.Tx.Session)
	case admission.TxQueued:
		return c.mineTx(e.Tx)
	case admission.TxStaled:
		return c.mineTx(e.Tx)
	case admission.TxRejected:
		tx, ok := c.s.Tx(e.Tx)
		return ok && (c.is(tx.Session) || c.drawn(&tx))
	case admission.TxAdmitted:
		return c.moved(e.Tx)
	case admission.TxPassed:
		return c.moved(e.Tx)
	case admission.TxStarted:
		return c.moved(e.Tx)
	case admission.TxUncertain:
		return c.moved(e.Tx)
	case admission.TxEnded:
		return c.moved(e.Tx) || c.ended(e)
	default:
		return true
	}
}

func (c *scope) is(id admission.SessionID) bool { return id != "" && id == c.lens.session.ID }

func (c *scope) sees(id graph.NodeID) bool { return c.of(id) != Hidden }

func (c *scope) mineTx(id admission.TxID) bool {
	tx, ok := c.s.Tx(id)
	return ok && c.is(tx.Session)
}

// standsFor says whether a visible node stands for an object of a session until
// the cloud has chosen its id: such nodes go with the session.
func (c *scope) standsFor(id admission.SessionID) bool {
	prefix := string(graph.PendingOf(string(id), ""))
	return slices.ContainsFunc(c.order, func(n graph.NodeID) bool { return strings.HasPrefix(string(n), prefix) })
}

// moved says whether a transaction whose status changes can be noticed: it is
// the session's, or about something visible, or holds something visible in a
// name that is shown, or has to do with capacity that is shown.
func (c *scope) moved(id admission.TxID) bool {
	tx, ok := c.s.Tx(id)
	if !ok {
		return false
	}
	if c.is(tx.Session) || c.sees(tx.Self) || c.drawn(&tx) || c.rewires(&tx) {
		return true
	}
	return c.lens.party(c.s, tx.Session) != stranger && c.seesAny(tx.Locks)
}

func (c *scope) seesAny(p lock.Plan) bool {
	return slices.ContainsFunc(p, func(w lock.Want) bool { return c.of(w.Node) >= Readable })
}

func (c *scope) rewires(tx *admission.Tx) bool {
	for _, list := range [][]graph.Edge{tx.Edges, tx.AddEdges, tx.DropEdges} {
		if slices.ContainsFunc(list, func(e graph.Edge) bool { return c.sees(e.From) }) {
			return true
		}
	}
	return false
}

// drawn says whether a transaction, or the plan that it belongs to, has to do
// with a bucket that is shown.
func (c *scope) drawn(tx *admission.Tx) bool {
	if c.draws(tx) {
		return true
	}
	if tx.Plan == "" {
		return false
	}
	plan, ok := c.s.Tx(tx.Plan)
	return ok && c.draws(&plan)
}

func (c *scope) draws(tx *admission.Tx) bool {
	return c.shown(tx.Effects) || slices.ContainsFunc(tx.Calls, func(p admission.Planned) bool { return c.shown(p.Effects) })
}

func (c *scope) shown(list escrow.Effects) bool {
	return slices.ContainsFunc(list, func(e escrow.Effect) bool { return c.counts(e.Bucket) })
}

func (c *scope) ended(e admission.TxEnded) bool {
	if e.Bind.ID != "" && c.sees(e.Bind.ID) {
		return true
	}
	tx, ok := c.s.Tx(e.Tx)
	return ok && !e.Exists && c.inside(tx.Self)
}

// inside says whether anything that is shown is in a node: with the node it
// goes.
func (c *scope) inside(root graph.NodeID) bool {
	if slices.ContainsFunc(c.order, func(n graph.NodeID) bool { return c.g.Contains(root, n) }) {
		return true
	}
	return slices.ContainsFunc(c.s.Capacity().Buckets(), func(k escrow.Key) bool {
		node, _, ok := admission.NodeOfBucket(k)
		return ok && c.counts(k) && c.g.Contains(root, node)
	})
}

func (c *scope) observed(o admission.Observation) bool {
	return c.sees(o.Decl.ID) || !o.Exists && c.inside(o.Decl.ID)
}

func (c *scope) concernedByClaim(x admission.Claim) bool {
	tx, ok := c.s.Tx(x.Plan)
	if !ok {
		return false
	}
	if c.is(tx.Session) || c.draws(&tx) {
		return true
	}
	if c.lens.party(c.s, tx.Session) != stranger {
		return c.seesAny(x.Locks)
	}
	return slices.ContainsFunc(tx.Calls, func(p admission.Planned) bool { return c.sees(p.Self) })
}

func (c *scope) concernedByEnd(e admission.ClaimEnded) bool {
	for _, x := range c.s.Claims() {
		if x.ID == e.Claim && c.concernedByClaim(x) {
			return true
		}
	}
	return slices.ContainsFunc(e.Broken, c.sees)
}
