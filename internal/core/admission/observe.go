// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// observe takes over what a read saw, as far as the read can know better than
// the graph: not where a call is changing the object, and not where the object
// changed after the read began (invariant I24 for objects).
func (d *decision) observe(c Observe) error {
	if !d.alive(c.Session, d.at) {
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	}
	if c.Began > d.index {
		return fmt.Errorf("%w: a read that began at record %d, after %d", ErrMalformed, c.Began, d.index)
	}
	decls := append([]graph.Decl(nil), c.Nodes...)
	for _, o := range c.Objects {
		decls = append(decls, o.Decl)
	}
	fresh, err := d.placeable(decls)
	if err != nil {
		return err
	}
	for _, o := range c.Objects {
		for _, e := range o.Edges {
			if e.From != o.Decl.ID || e.To == "" {
				return fmt.Errorf("%w: edge from %q to %q, seen on %s", ErrMalformed, e.From, e.To, o.Decl.ID)
			}
		}
	}
	d.place(fresh)
	var taken []Observation
	for _, o := range c.Objects {
		if d.credible(o, c.Began) {
			taken = append(taken, o)
		}
	}
	if len(taken) > 0 {
		d.emit(Observed{Session: c.Session, At: d.at, Objects: taken})
		d.drain()
	}
	return nil
}

// credible says whether a read that began at an index can know better than the
// graph. That an object is gone is not believed while anything is locked in it.
func (s *State) credible(o Observation, began uint64) bool {
	n := s.graph.Peek(o.Decl.ID)
	switch {
	case n.ChangedIndex > began, s.changing(n.ID):
		return false
	default:
		return o.Exists || s.locks.Strongest(n.ID) == mode.NL && s.claimed.Strongest(n.ID) == mode.NL
	}
}

// changing says whether a transaction that holds locks may be changing the
// object: it owns the object, a facet of it, or something that contains it.
func (s *State) changing(id graph.NodeID) bool {
	if s.locks.Strongest(id) >= mode.SIX || s.holderOf(id) != nil {
		return true
	}
	for _, child := range s.graph.Children(id) {
		if _, _, facet := graph.OwnerOfFacet(child); facet && s.locks.Strongest(child) == mode.X {
			return true
		}
	}
	for up, ok := s.graph.Parent(id); ok; up, ok = s.graph.Parent(up) {
		if s.locks.Strongest(up) == mode.X {
			return true
		}
	}
	return false
}

// holderOf is the holder of a node that has it as its own object and changes it;
// nil if there is none.
func (s *State) holderOf(id graph.NodeID) *entry {
	for _, h := range s.locks.Holders(id) {
		if e := s.txs.Get(TxID(h.Owner)); e != nil && e.Self == id && e.Action != Read {
			return e
		}
	}
	return nil
}

func (s *State) foldObserved(e Observed) error {
	if s.sessions.Get(e.Session) == nil {
		return fmt.Errorf("session %s: %w: %w", e.Session, ErrNoSession, ErrReplay)
	}
	s.ahead = nil
	for _, o := range e.Objects {
		if o.Exists {
			s.seen(e, o)
		} else {
			s.missing(e, o)
		}
	}
	return nil
}

// seen takes over an object that is there. The version grows only when
// something is different, so that a refresh makes nobody stale.
func (s *State) seen(e Observed, o Observation) {
	id := o.Decl.ID
	changed := o.Edges != nil && s.graph.SetEdges(id, o.Edges)
	origin := s.sessions.Get(e.Session).Origin
	s.graph.Update(id, func(n *graph.Node) {
		n.ObservedAt = e.At
		n.Incarnation = max(n.Incarnation, 1) // it lives, since nobody knows when
		if !n.Lifecycle.Live() {
			n.SinceIndex = s.index
		}
		switch n.Lifecycle {
		case graph.Absent:
			n.Incarnation++ // somebody outside made it anew
			n.LifeAt = e.At
			n.Lifecycle, changed = graph.Operational, true
		case graph.Operational, graph.Failed:
		default:
			n.Lifecycle, changed = graph.Operational, true
		}
		if o.Digest != "" && o.Digest != n.Digest {
			n.Digest, changed = o.Digest, true
		}
		if n.Owner == "" && o.Address != "" {
			n.Owner, n.Address = origin, o.Address
		}
		if changed {
			n.Touch("", s.index)
		}
	})
}

func (s *State) missing(e Observed, o Observation) {
	n := s.graph.Peek(o.Decl.ID)
	if n == nil {
		return
	}
	if n.Lifecycle == graph.Absent {
		s.graph.Update(n.ID, func(n *graph.Node) { n.ObservedAt = e.At })
		return
	}
	s.bury(n.ID, "", graph.Change{At: e.At})
}
