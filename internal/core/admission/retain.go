// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Retained is how many final transactions are kept in full, so that people can
// ask why. Older ones keep what answers a repeated Submit until their session
// ends, and are then forgotten.
const Retained = 1024

// retire makes a transaction final.
func (s *State) retire(x *entry, status Status, at int64, why []Blocker) {
	s.unqueue(x.ID)
	if why == nil && x.Passed != nil {
		why = x.Blockers // what it passed stays on record, for reports
	}
	x.Status, x.EndedAt, x.Blockers = status, at, why
	if x.Plan != "" {
		delete(s.ongoing, x.planned())
	}
	if !s.owes(&x.Tx) {
		s.retired = append(s.retired, x.ID)
	}
}

// owes says whether a reservation that is over is still the owner of capacity:
// that of calls which may be running. It is not forgotten as long as it is.
func (s *State) owes(tx *Tx) bool {
	return tx.Action == Reserve && s.escrow.Holds(escrow.Owner(tx.ID))
}

// discharge retires a reservation that is over with the last of its calls.
func (s *State) discharge(id TxID) {
	if e := s.txs[id]; e != nil && e.Status.Final() && !s.owes(&e.Tx) {
		s.retired = append(s.retired, id)
	}
}

// unretire takes a Stale or Rejected transaction back.
func (s *State) unretire(id TxID) {
	if i := slices.Index(s.retired, id); i >= 0 {
		s.retired = slices.Delete(s.retired, i, i+1)
	}
}

// compact keeps the number of full final transactions within bounds.
func (s *State) compact() {
	for len(s.retired) > Retained {
		id := s.retired[0]
		s.retired = slices.Delete(s.retired, 0, 1)
		e := s.txs[id]
		if x := s.sessions[e.Session]; x == nil || x.EndedAt != 0 {
			s.forgetTx(e)
			continue
		}
		s.change(id, func(e *entry) {
			e.Nodes, e.Locks, e.Guards, e.Blockers = nil, nil, nil, nil
			e.Edges, e.AddEdges, e.DropEdges = nil, nil, nil
			e.Calls, e.Effects, e.Delayed = nil, nil, nil
			e.order, e.demand, e.union, e.plan, e.guards = nil, nil, nil, nil, nil
			e.slim = true
		})
	}
}

// forgetSlim forgets the slim transactions of a session that has ended.
func (s *State) forgetSlim(id SessionID) {
	var list []*entry
	for _, e := range s.txs {
		if e.slim && e.Session == id {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range list {
		s.forgetTx(e)
	}
}

func (s *State) forgetTx(e *entry) {
	delete(s.txs, e.ID)
	if e.Key != 0 {
		delete(s.keys, key{e.Session, e.Key})
	}
	s.unref(e.Session)
}

func (s *State) unref(id SessionID) {
	if s.refs[id]--; s.refs[id] <= 0 {
		delete(s.refs, id)
		s.forgetSession(id)
	}
}

// forgetSession forgets an ended session that nothing mentions any more.
func (s *State) forgetSession(id SessionID) {
	x := s.sessions[id]
	if x == nil || x.EndedAt == 0 || s.refs[id] > 0 {
		return
	}
	delete(s.sessions, id)
	s.forgetPending(id)
	for i, intent := range s.intents {
		if intent.Session == id {
			delete(s.intents, i)
		}
	}
}

// forgetPending removes the nodes that stood for objects of a session until the
// cloud had chosen their ids. Nobody can name them any more. What is there, and
// has no other node, stays.
func (s *State) forgetPending(id SessionID) {
	prefix := string(graph.PendingOf(string(id), ""))
	var roots []graph.NodeID
	for n := range s.graph.Nodes() {
		if n.Kind == graph.Pending && strings.HasPrefix(string(n.ID), prefix) {
			roots = append(roots, n.ID)
		}
	}
	slices.Reverse(roots) // inner ones first
	for _, r := range roots {
		s.forgetSubtree(r)
	}
}

func (s *State) forgetSubtree(root graph.NodeID) {
	var all []graph.NodeID
	for n := range s.graph.Subtree(root) {
		stands := n.Kind != graph.Resource && (n.BoundTo != "" || !n.Lifecycle.Live())
		if !stands || s.locks.Strongest(n.ID) != mode.NL || s.claimed.Strongest(n.ID) != mode.NL {
			return
		}
		all = append(all, n.ID)
	}
	for _, n := range slices.Backward(all) {
		s.graph.Remove(n)
	}
}
