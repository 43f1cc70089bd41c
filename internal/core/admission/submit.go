// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// StaleGrace is for how long a Stale transaction keeps its ticket, in
// nanoseconds: long enough to lower the operation again, too short to be a
// place in the queue without a request behind it.
const StaleGrace = int64(5e9)

func (d *decision) submit(c Submit) error {
	if !d.alive(c.Request.Session, d.at) {
		return fmt.Errorf("session %s: %w", c.Request.Session, ErrNoSession)
	}
	request, err := d.attribute(c.Request)
	if err != nil {
		return err
	}
	repeated, err := d.repeated(c.ID, &request)
	if err != nil || repeated {
		return err
	}
	fresh, err := d.placeable(request.Nodes)
	if err != nil {
		return err
	}
	if err := d.validate(&request); err != nil {
		return err
	}
	d.admit(Tx{ID: c.ID, Request: request, Ticket: d.ticket + 1, Status: Queued, SubmittedAt: d.at}, fresh)
	return nil
}

// attribute fills in the intent, so that every transaction has one.
func (s *State) attribute(r Request) (Request, error) {
	if r.Intent == "" {
		r.Intent = s.sessions.Get(r.Session).first
	}
	if i, ok := s.intents.Find(r.Intent); !ok || i.Session != r.Session {
		return r, fmt.Errorf("%w: session %s has no intent %q", ErrMalformed, r.Session, r.Intent)
	}
	return r, nil
}

// repeated finds out whether a request was submitted before: then it has its
// answer already (invariant I27). A Stale transaction may be submitted again
// with another plan.
func (s *State) repeated(id TxID, r *Request) (bool, error) {
	if id == "" {
		return false, fmt.Errorf("%w: a transaction needs an id", ErrMalformed)
	}
	old := s.txs.Get(id)
	if old != nil && old.Status == Stale && old.Session == r.Session && old.Key == r.Key {
		return false, nil
	}
	if other, ok := s.keys.Find(key{r.Session, r.Key}); ok && r.Key != 0 {
		if s.txs.Get(other).digest == digest(r) {
			return true, nil
		}
		return false, fmt.Errorf("key %d of session %s: %w", r.Key, r.Session, ErrKeyReused)
	}
	if old != nil {
		return false, fmt.Errorf("transaction %s: %w", id, ErrDuplicate)
	}
	return false, nil
}

// admit gives the request its ticket and the first verdict.
func (d *decision) admit(tx Tx, fresh []graph.Decl) {
	waiters := d.demand()
	d.place(fresh)
	last := true // nobody waits behind the newest ticket
	if old := d.txs.Get(tx.ID); old != nil {
		tx.SubmittedAt = old.SubmittedAt
		if d.at-old.EndedAt <= StaleGrace {
			tx.Ticket, last = old.Ticket, false
		}
	}
	if tx.Plan != "" && d.reserved(&tx) {
		tx.Rank, last = d.txs.Get(tx.Plan).Ticket, false
	}
	d.emit(TxSubmitted{Tx: tx})
	d.again = !last
	if last {
		d.settleVerdict(tx.ID, waiters)
		d.ahead = waiters
	}
	if d.again {
		d.drain()
	}
	if e := d.txs.Get(tx.ID); e.Status == Queued {
		d.emit(TxQueued{Tx: tx.ID, Blockers: d.blockers(e, nil)})
	}
}

// validate checks a request whose Nodes could be placed. Every error names
// the node.
func (s *State) validate(r *Request) error {
	placed := newPlacement(s.graph, r.Nodes)
	switch r.Action {
	case Create, Update, Delete, Read:
	case Reserve:
		if len(r.Locks)+len(r.Guards)+len(r.Effects) > 0 || r.Plan != "" {
			return fmt.Errorf("%w: a reservation asks for nothing but its calls", ErrMalformed)
		}
		return s.validatePlan(r, placed)
	default:
		return fmt.Errorf("%w: action %q", ErrMalformed, r.Action)
	}
	if len(r.Calls) > 0 || r.Whole {
		return fmt.Errorf("%w: only a reservation has calls", ErrMalformed)
	}
	if err := s.validateCall(r); err != nil {
		return err
	}
	if err := placed.all(r); err != nil {
		return err
	}
	if err := r.Locks.Validate(placed.parent); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := validGuards(r.Guards); err != nil {
		return err
	}
	if _, err := orderOf(r, nil); err != nil {
		return err
	}
	for _, e := range r.Edges {
		if e.From != r.Self {
			return fmt.Errorf("%w: edge from %s, which is not the object itself", ErrMalformed, e.From)
		}
	}
	return nil
}

// validateCall checks that the plan that a request names is reserved for its
// session, and foresees the call.
func (s *State) validateCall(r *Request) error {
	if r.Plan == "" {
		if r.Call != "" {
			return fmt.Errorf("%w: call %q of no plan", ErrMalformed, r.Call)
		}
		return nil
	}
	e, p := s.txs.Get(r.Plan), s.plans.Get(r.Plan)
	switch {
	case e == nil || e.Session != r.Session || e.Action != Reserve:
		return fmt.Errorf("plan %s: %w", r.Plan, ErrNoTx)
	case p == nil:
		return fmt.Errorf("plan %s is not reserved: %w", r.Plan, ErrStatus)
	case p.find(r.Call) < 0:
		return fmt.Errorf("%w: plan %s does not foresee call %q", ErrMalformed, r.Plan, r.Call)
	case s.ongoing.Get(call{r.Plan, r.Call}) != "":
		return fmt.Errorf("call %q of plan %s, as %s: %w", r.Call, r.Plan, s.ongoing.Get(call{r.Plan, r.Call}), ErrDuplicate)
	default:
		return nil
	}
}

func validGuards(guards []Guard) error {
	for _, g := range guards {
		switch g.Kind {
		case Present, Unreferenced, Version, SameLife, PlannedAt:
		default:
			return fmt.Errorf("%w: guard %q on %s", ErrMalformed, g.Kind, g.Node)
		}
	}
	return nil
}

// placement is the containment as it is once a request's nodes are placed.
type placement struct {
	graph *graph.Graph
	up    map[graph.NodeID]graph.NodeID
}

func newPlacement(g *graph.Graph, decls []graph.Decl) placement {
	p := placement{graph: g, up: make(map[graph.NodeID]graph.NodeID, len(decls))}
	for _, d := range decls {
		p.up[d.ID] = d.Parent
	}
	return p
}

func (p placement) parent(id graph.NodeID) (graph.NodeID, bool) {
	if up, ok := p.up[id]; ok {
		return up, up != ""
	}
	return p.graph.Parent(id)
}

func (p placement) has(id graph.NodeID) error {
	if _, ok := p.up[id]; ok || p.graph.Has(id) {
		return nil
	}
	return fmt.Errorf("%q: %w", id, ErrUndeclared)
}

// all checks that every node a request names is placed.
func (p placement) all(r *Request) error {
	if err := p.named(r.Self, r.Locks, r.Guards); err != nil {
		return err
	}
	for _, list := range [][]graph.Edge{r.Edges, r.AddEdges, r.DropEdges} {
		for _, e := range list {
			if err := errors.Join(p.has(e.From), p.has(e.To)); err != nil {
				return err
			}
		}
	}
	return nil
}

// named checks that an object, and all that locks and guards name, is placed.
func (p placement) named(self graph.NodeID, locks lock.Plan, guards []Guard) error {
	if err := p.has(self); err != nil {
		return err
	}
	for _, w := range locks {
		if err := p.has(w.Node); err != nil {
			return err
		}
	}
	for _, g := range guards {
		if err := p.has(g.Node); err != nil {
			return err
		}
	}
	return nil
}

// shapeError puts an error of the graph into the words of this package.
func shapeError(err error) error {
	switch {
	case errors.Is(err, graph.ErrMisplaced):
		return err
	case errors.Is(err, graph.ErrOrphan):
		return fmt.Errorf("%w: %w", ErrUndeclared, err)
	default:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
}
