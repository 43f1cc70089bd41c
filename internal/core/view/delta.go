// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Delta is what a session asks for under its local ids: the local graph delta of
// one operation (CloudWeaver, section 4.1).
type Delta struct {
	Action  admission.Action `json:"action"`
	Type    string           `json:"type"`
	Address string           `json:"address,omitempty"`
	// Self is the object; of a create that has no local id yet, In is what it is
	// created in and Name its name there.
	Self LocalID `json:"self,omitempty"`
	In   LocalID `json:"in,omitempty"`
	Name string  `json:"name,omitempty"`
	// Uses is what the object will refer to.
	Uses []Reference `json:"uses,omitempty"`
	// Planned are the nodes that were read while planning, as they were then.
	Planned []Planned `json:"planned,omitempty"`
	Needs   []Need    `json:"needs,omitempty"`
}

// Reference is a reference to be made.
type Reference struct {
	ID   LocalID        `json:"id"`
	Kind graph.EdgeKind `json:"kind"`
}

// Planned is a node as it was when the operation was planned.
type Planned struct {
	ID LocalID `json:"id"`
	// Version is the local one.
	Version uint64 `json:"version"`
}

// Need is what the operation takes of a count, or gives back if negative.
type Need struct {
	// ID is the node that the count belongs to; empty for none.
	ID     LocalID `json:"id,omitempty"`
	Bucket string  `json:"bucket"`
	Amount int64   `json:"amount"`
}

// ErrDelta: a delta does not say what it is about.
var ErrDelta = errors.New("malformed delta")

// ErrNotAllowed: the policy does not allow the session to do this to the node.
var ErrNotAllowed = errors.New("not allowed by the policy of the view")

// ErrChanged: what is shown of a node has changed since the operation was
// planned.
var ErrChanged = errors.New("changed since it was planned on")

// GlobalDelta is a delta under global ids: a request without its lock plan, which
// the rules make of it. Only what the session may do to what it sees is
// resolved; errors name local ids, wrap [ErrUnknownID], [ErrNotAllowed],
// [ErrChanged] or [ErrDelta], and do not depend on what is hidden.
func (l *Locals) GlobalDelta(lens *Lens, s *admission.State, d Delta) (admission.Request, error) {
	p := lens.project(s)
	l.take(p)
	r := resolution{l: l, p: p}
	q := admission.Request{Session: lens.session.ID, Address: d.Address, Type: d.Type, Action: d.Action}
	r.self(&q, d)
	for _, u := range d.Uses {
		if to, ok := r.node(u.ID, Usable); ok {
			r.place(&q, to)
			q.Edges = append(q.Edges, graph.Edge{From: q.Self, To: to, Kind: u.Kind})
		}
	}
	for _, g := range d.Planned {
		r.guard(&q, g)
	}
	var effects []escrow.Effect
	for _, n := range d.Needs {
		effects = append(effects, r.effect(n))
	}
	if r.err != nil {
		return admission.Request{}, r.err
	}
	q.Effects = escrow.Collect(effects...)
	return q, nil
}

// resolution collects what a delta is about; the first error counts.
type resolution struct {
	l   *Locals
	p   *projection
	err error
}

func (r *resolution) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *resolution) node(id LocalID, least Access) (graph.NodeID, bool) {
	n, err := r.l.resolve(r.p.scope, id)
	switch {
	case err != nil:
		r.fail(err)
	case r.p.of(n) < least:
		r.fail(fmt.Errorf("%q: %w", id, ErrNotAllowed))
	default:
		return n, true
	}
	return "", false
}

func (r *resolution) self(q *admission.Request, d Delta) {
	switch {
	case d.Self != "":
		least := Changeable
		if d.Action == admission.Read {
			least = Readable
		}
		if n, ok := r.node(d.Self, least); ok {
			q.Self = n
			r.place(q, n)
		}
	case d.Action != admission.Create || d.Name == "" || d.Type == "":
		r.fail(fmt.Errorf("%w: it has no object, and creates none with a type and a name", ErrDelta))
	default:
		if in, ok := r.node(d.In, Usable); ok {
			q.Self = graph.NameOf(in, d.Type, d.Name)
			r.place(q, in)
			q.Nodes = append(q.Nodes, graph.Decl{ID: q.Self, Parent: in, Kind: graph.Name, Type: d.Type})
		}
	}
}

// place declares a node and what contains it, once.
func (r *resolution) place(q *admission.Request, id graph.NodeID) {
	n := r.p.g.Peek(id)
	if n == nil || r.p.nodes[id].bare {
		r.fail(fmt.Errorf("%q: nothing is known of it yet: %w", r.l.of(id), ErrDelta))
		return
	}
	for _, d := range q.Nodes {
		if d.ID == id {
			return
		}
	}
	if n.Parent != "" {
		r.place(q, n.Parent)
	}
	q.Nodes = append(q.Nodes, n.Decl)
}

func (r *resolution) guard(q *admission.Request, g Planned) {
	n, ok := r.node(g.ID, Readable)
	if !ok {
		return
	}
	x := r.l.nodes[n]
	if x.version != g.Version {
		r.fail(fmt.Errorf("%q is at version %d, not %d: %w", g.ID, x.version, g.Version, ErrChanged))
		return
	}
	r.place(q, n)
	q.Guards = append(q.Guards, admission.Guard{Kind: admission.Version, Node: n, Value: x.global})
}

func (r *resolution) effect(n Need) escrow.Effect {
	e := escrow.Effect{Bucket: escrow.Key(n.Bucket), Amount: n.Amount}
	if n.ID != "" {
		if node, ok := r.node(n.ID, Readable); ok {
			e.Bucket = admission.BucketOf(node, n.Bucket)
		}
	}
	return e
}
