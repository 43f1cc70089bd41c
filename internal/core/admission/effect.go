// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "github.com/tfweaver/tfweaver/internal/core/graph"

// during is the lifecycle of an object while a call runs; a read leaves it, and
// so does an update of what is gone, which somebody has let pass. A create of
// what is there already makes nothing.
func during(a Action, before graph.Lifecycle) (graph.Lifecycle, bool) {
	switch {
	case a == Delete:
		return graph.Deleting, true
	case a == Update && before == graph.Absent:
		return before, false
	case a == Update, a == Create && before.Live():
		return graph.Updating, true
	case a == Create:
		return graph.Creating, true
	default:
		return graph.Unknown, false
	}
}

// foreknown is what is known of the object of a call that starts. While another
// one is on its way, which somebody has let pass, that is what was known before
// both.
func (s *State) foreknown(x *entry) graph.Lifecycle {
	n := s.object(x.Self)
	if n == nil {
		return graph.Unknown
	}
	switch n.Lifecycle {
	case graph.Creating, graph.Updating, graph.Deleting, graph.Uncertain:
		if r := s.rival(x); r != nil {
			return r.Before
		}
		return graph.Unknown
	default:
		return n.Lifecycle
	}
}

func (s *State) lifecycle(id graph.NodeID, l graph.Lifecycle, by SessionID) {
	s.graph.Update(id, func(n *graph.Node) {
		if n.Lifecycle != l {
			n.Lifecycle = l
			n.Touch(string(by), s.index)
		}
	})
}

// settle puts the outcome of a call into the graph.
func (s *State) settle(tx *Tx, e TxEnded) {
	if tx.Action == Read || tx.StartedIndex == 0 {
		return // nothing was done
	}
	if e.Settled {
		s.outcome(tx, e)
	} else {
		s.lifecycle(tx.Self, tx.Before, tx.Session)
	}
	if tx.Passed != nil {
		s.leaveTo(s.holderOf(tx.Self))
	}
}

// leaveTo leaves an object to a call that is on its way and holds it, whatever
// has become of one that went on beside it.
func (s *State) leaveTo(holder *entry) {
	if holder == nil || holder.StartedIndex == 0 {
		return
	}
	l, _ := during(holder.Action, holder.Before)
	if holder.Status == Uncertain {
		l = graph.Uncertain
	}
	s.lifecycle(holder.Self, l, holder.Session)
}

// outcome puts into the graph what a call has done.
func (s *State) outcome(tx *Tx, e TxEnded) {
	id := s.landed(tx, e)
	switch {
	case e.Exists:
		s.exists(tx, e, id)
	case tx.Action == Create && tx.Before.Live() && e.By == "":
		// The create failed because the object was there already.
		s.lifecycle(tx.Self, tx.Before, tx.Session)
		s.remember(tx.Self, s.changeOf(tx, e))
	default:
		s.bury(id, tx.Session, s.changeOf(tx, e))
	}
	s.references(tx, e, id)
	if tx.Action == Create {
		s.undeclare(tx.Session, tx.Self)
	}
}

// landed is the node of the object that the call was about, once the cloud has
// chosen its id. The name or pending node that stood for it points to it, and
// so do all references made by way of that node.
func (s *State) landed(tx *Tx, e TxEnded) graph.NodeID {
	real := e.Bind.ID
	if real == "" || !s.graph.Has(real) {
		return tx.Self
	}
	if e.Collision {
		s.graph.Update(real, func(n *graph.Node) { n.Collides = tx.Self })
		s.graph.Update(tx.Self, func(n *graph.Node) { n.Collides = real })
		return tx.Self
	}
	s.graph.Update(tx.Self, func(n *graph.Node) {
		n.BoundTo, n.Lifecycle = real, graph.Operational
		n.Touch(string(tx.Session), s.index)
	})
	for _, old := range append(s.graph.In(tx.Self), s.graph.Out(tx.Self)...) {
		s.graph.RemoveEdge(old)
		s.graph.AddEdge(retarget(old, tx.Self, real))
	}
	return real
}

func retarget(e graph.Edge, from, to graph.NodeID) graph.Edge {
	if e.From == from {
		e.From = to
	}
	if e.To == from {
		e.To = to
	}
	return e
}

// exists records an object that is there after the call.
func (s *State) exists(tx *Tx, e TxEnded, id graph.NodeID) {
	origin := s.sessions.Get(tx.Session).Origin
	s.graph.Update(id, func(n *graph.Node) {
		n.Lifecycle = graph.Operational
		if e.Status != Operational {
			n.Lifecycle = graph.Failed
		}
		if tx.Action == Create {
			n.Incarnation++
			n.LifeAt, n.SinceIndex = e.At, s.index
		}
		n.Incarnation = max(n.Incarnation, 1)
		if tx.Action == Create || tx.Action == Update && e.Status == Operational {
			n.Owner, n.Address = origin, tx.Address
		}
		if n.Type == "" {
			n.Type = tx.Type
		}
		n.Digest, n.ObservedAt = e.Digest, e.At
		n.Touch(string(tx.Session), s.index)
		s.note(n, s.changeOf(tx, e))
	})
}

func (s *State) changeOf(tx *Tx, e TxEnded) graph.Change {
	return graph.Change{
		At: e.At, Session: string(tx.Session), Intent: string(tx.Intent),
		Tx: string(tx.ID), Action: string(tx.Action), Result: string(e.Status),
	}
}

// bury marks an object and everything in it as gone, and forgets the
// references they made. What is still being changed inside is left to the
// call that changes it.
func (s *State) bury(id graph.NodeID, by SessionID, c graph.Change) {
	var gone []graph.NodeID
	for n := range s.graph.Subtree(id) {
		if n.ID == id || n.Lifecycle.Live() && !s.changing(n.ID) {
			gone = append(gone, n.ID)
		}
	}
	s.forgetBuckets(gone)
	for _, g := range gone {
		s.graph.Update(g, func(n *graph.Node) {
			n.Lifecycle, n.Digest, n.ObservedAt = graph.Absent, "", c.At
			n.Owner, n.Address = "", ""
			n.LifeAt = c.At
			n.Touch(string(by), s.index)
		})
		s.graph.SetEdges(g, nil)
		if c.Session != "" {
			s.remember(g, c)
		}
	}
}

// references puts the new references of a call into the graph. After a
// failure, or on a person's word, nobody knows which ones were made: then all
// that may be there count, since a reference that is forgotten lets its target
// be deleted.
func (s *State) references(tx *Tx, e TxEnded, id graph.NodeID) {
	sure := e.Status == Operational && e.By == ""
	c := s.changeOf(tx, e)
	if e.Exists && tx.Action != Delete && !tx.KeepEdges {
		edges := moved(tx.Edges, tx.Self, id)
		if sure {
			s.graph.SetEdges(id, edges)
		} else {
			s.rewire(edges, id, c, s.graph.AddEdge)
		}
	}
	if sure || e.Exists {
		s.rewire(moved(tx.AddEdges, tx.Self, id), id, c, s.graph.AddEdge)
	}
	if sure {
		s.rewire(moved(tx.DropEdges, tx.Self, id), id, c, s.graph.RemoveEdge)
	}
}

// rewire adds or removes single references. To other objects than the
// transaction's own, that is a change that their history tells.
func (s *State) rewire(edges []graph.Edge, self graph.NodeID, c graph.Change, do func(graph.Edge) bool) {
	for _, e := range edges {
		if !do(e) || e.From == self {
			continue
		}
		s.graph.Update(e.From, func(n *graph.Node) { n.Touch(c.Session, s.index) })
		s.remember(e.From, c)
	}
}

func moved(edges []graph.Edge, from, to graph.NodeID) []graph.Edge {
	if from == to {
		return edges
	}
	list := make([]graph.Edge, 0, len(edges))
	for _, e := range edges {
		list = append(list, retarget(e, from, to))
	}
	return list
}

// remember appends to the intent history of a node. Sessions stay known for as
// long as a history names them.
func (s *State) remember(id graph.NodeID, c graph.Change) {
	s.graph.Update(id, func(n *graph.Node) { s.note(n, c) })
}

func (s *State) note(n *graph.Node, c graph.Change) {
	s.ref(SessionID(c.Session))
	if old, full := n.Remember(c); full {
		s.unref(SessionID(old.Session))
	}
}
