// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// makers says of objects whether the plan makes them that a guard belongs to;
// nil is a plan that makes nothing.
type makers func(graph.NodeID) bool

func (m makers) has(id graph.NodeID) bool { return m != nil && m(id) }

// ownOf is what the plan of a transaction makes, else what it is said to make.
func (s *State) ownOf(e *entry, said makers) makers {
	if e.plan != nil {
		return e.plan.makes
	}
	if p, _ := s.planOf(&e.Tx); p != nil {
		return p.makes
	}
	return said
}

// awaited are the nodes that Present guards of a session wait for: declared by
// another live session, by no plan of its own, and not made yet.
func (s *State) awaited(session SessionID, guards []Guard, own makers) []graph.NodeID {
	var list []graph.NodeID
	for _, g := range guards {
		if g.Kind == Present && !own.has(g.Node) && s.awaits(session, g.Node) {
			list = append(list, g.Node)
		}
	}
	return list
}

func (s *State) dormant(e *entry) bool {
	if s.declared.Len() == 0 {
		return false
	}
	return len(s.awaitedBy(e)) > 0
}

// awaitedBy is awaited for everything that a waiter asks for.
func (s *State) awaitedBy(e *entry) []graph.NodeID {
	return s.awaited(e.Session, s.asks(e).guards, s.ownOf(e, nil))
}

func (s *State) awaits(session SessionID, id graph.NodeID) bool {
	by := s.declared.Get(id)
	if len(by) == 0 || slices.Contains(by, session) {
		return false
	}
	return !s.made(s.object(id))
}

// object is the node that a guard is about: the real one, where a name or a
// pending node was bound.
func (s *State) object(id graph.NodeID) *graph.Node {
	n := s.graph.Peek(id)
	if n != nil && n.BoundTo != "" {
		if real := s.graph.Peek(n.BoundTo); real != nil {
			return real
		}
	}
	return n
}

// made says whether a declared object is there by now. It is not while its
// create runs, or while nobody knows how that ended. The answer does not change
// when a call starts or is lost, only when one ends.
func (s *State) made(n *graph.Node) bool {
	if n == nil {
		return false
	}
	switch n.Lifecycle {
	case graph.Operational, graph.Updating, graph.Failed, graph.Deleting:
		return true
	case graph.Uncertain:
		return s.madeBeforeLoss(n.ID)
	default:
		return false
	}
}

// madeBeforeLoss says whether the object was there when the call started whose
// outcome is not known.
func (s *State) madeBeforeLoss(id graph.NodeID) bool {
	for _, h := range s.locks.Holders(id) {
		if e := s.txs.Get(TxID(h.Owner)); e.Self == id && e.Status == Uncertain {
			return e.Action != Create || e.Before.Live()
		}
	}
	return false
}

// circular says whether tx would wait for an object whose own create waits,
// over any number of sessions, for an object that tx creates.
func (s *State) circular(e *entry) bool {
	tx, seen := &e.Tx, map[TxID]bool{}
	var reaches func(*entry) bool
	reaches = func(t *entry) bool {
		for _, id := range s.awaitedBy(t) {
			if tx.Action == Create && tx.Self == id {
				return true
			}
			if c := s.creator(id); c != nil && !seen[c.ID] {
				seen[c.ID] = true
				if reaches(c) {
					return true
				}
			}
		}
		return false
	}
	return reaches(e)
}

// creator is the transaction in the queue that will create a node.
func (s *State) creator(id graph.NodeID) *entry {
	for _, w := range s.queue.Items() {
		if e := s.txs.Get(w); e.Action == Create && e.Self == id {
			return e
		}
	}
	return nil
}

// check judges the guards of a transaction whose locks are free. Refusals are
// final; moved are the nodes that changed since the plan was lowered.
func (s *State) check(tx *Tx, guards []Guard, own makers) (refusals, moved []Blocker) {
	for _, g := range guards {
		switch g.Kind {
		case Present:
			refusals = append(refusals, s.present(tx, g, own)...)
		case SameLife:
			refusals = append(refusals, s.sameLife(tx, g)...)
		case PlannedAt:
			refusals = append(refusals, s.plannedAt(tx, g)...)
		case Unreferenced:
			refusals = append(refusals, s.unreferenced(tx, g)...)
		case Version:
			moved = append(moved, s.version(tx, g)...)
		}
	}
	return refusals, moved
}

func (s *State) present(tx *Tx, g Guard, own makers) []Blocker {
	n := s.object(g.Node)
	if n == nil || n.Lifecycle != graph.Absent {
		return nil
	}
	if own.has(g.Node) || slices.Contains(s.declared.Get(g.Node), tx.Session) {
		return nil
	}
	b := s.changedBlocker(g, n, string(graph.Absent))
	b.Class, b.Replan = "dependency", true
	return []Blocker{b}
}

// sameLife refuses what was planned on an earlier life of an object. A create
// may follow the end of the life that it was planned on: a replace.
func (s *State) sameLife(tx *Tx, g Guard) []Blocker {
	n := s.object(g.Node)
	if n == nil {
		return nil
	}
	recreates := tx.Action == Create && tx.Self == g.Node
	if n.Incarnation == g.Value && (n.Lifecycle != graph.Absent || recreates) {
		return nil
	}
	fact := fmt.Sprintf("incarnation %d, planned on %d", n.Incarnation, g.Value)
	if n.Lifecycle == graph.Absent {
		fact = string(graph.Absent)
	}
	b := s.changedBlocker(g, n, fact)
	b.Class, b.Replan = "lost_update", true
	return []Blocker{b}
}

func (s *State) version(tx *Tx, g Guard) []Blocker {
	n := s.graph.Peek(g.Node)
	if n == nil || n.UnchangedSince(g.Value, string(tx.Session)) {
		return nil
	}
	b := s.changedBlocker(g, n, fmt.Sprintf("version %d, planned on %d", n.Version, g.Value))
	b.Class = "lost_update"
	return []Blocker{b}
}

// unreferenced lists what keeps a subtree from being deleted: live references
// into it from outside, and live objects in it that belong to another state.
func (s *State) unreferenced(tx *Tx, g Guard) []Blocker {
	var list []Blocker
	origin := s.sessions.Get(tx.Session).Origin
	for n := range s.graph.Subtree(g.Node) {
		if n.ID != g.Node && foreignObject(n, origin) {
			list = append(list, s.dependent(g, n, "contains"))
		}
		for _, e := range s.graph.In(n.ID) {
			if s.keepsAlive(tx, g.Node, e) {
				list = append(list, s.dependent(g, s.graph.Peek(e.From), string(e.Kind)))
			}
		}
		if len(list) >= MaxBlockers {
			break
		}
	}
	return list
}

func foreignObject(n *graph.Node, origin string) bool {
	return n.Kind == graph.Resource && n.BoundTo == "" && n.Lifecycle.Live() && n.Owner != "" && n.Owner != origin
}

// keepsAlive says whether a reference into the subtree of id counts: it comes
// from outside, from an object that may be there, and stays.
func (s *State) keepsAlive(tx *Tx, id graph.NodeID, e graph.Edge) bool {
	from := s.graph.Peek(e.From)
	if from == nil || from.Lifecycle == graph.Absent {
		return false
	}
	return !s.graph.Contains(id, e.From) && !slices.Contains(tx.DropEdges, e)
}

func (s *State) dependent(g Guard, referrer *graph.Node, fact string) Blocker {
	b := s.guardBlocker(g, referrer, fact)
	b.Class = "dependency"
	return b
}

// changedBlocker reports a change of a node. What was changed from outside, and
// only seen by somebody's read, is nobody's doing here.
func (s *State) changedBlocker(g Guard, n *graph.Node, fact string) Blocker {
	b := s.guardBlocker(g, n, fact)
	if n.ChangedBy == "" {
		b.HolderSession, b.HolderIntent = "", ""
	}
	return b
}

// guardBlocker reports a guard that failed because of what is known of a node,
// in the name of whoever changed that node last.
func (s *State) guardBlocker(g Guard, n *graph.Node, fact string) Blocker {
	b := Blocker{
		Node: g.Node, Relation: lock.Guarded, Rule: g.Rule, Guard: g.Kind,
		Fact: fact, FactNode: n.ID, FactAt: n.ObservedAt,
	}
	if c, ok := n.LastChange(); ok {
		b.HolderSession, b.HolderIntent = SessionID(c.Session), IntentID(c.Intent)
		b.FactAt = max(b.FactAt, c.At)
	}
	return b
}
