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
		s.ongoing.Delete(&s.owner, x.planned())
	}
	if !s.owes(&x.Tx) {
		s.retired.Append(&s.owner, x.ID)
	}
}

// owes says whether a reservation that is over is still the owner of capacity:
// that of calls which may be running. It is not forgotten as long as it is.
func (s *State) owes(tx *Tx) bool {
	return tx.Action == Reserve && s.escrow.Holds(escrow.Owner(tx.ID))
}

// discharge retires a reservation that is over with the last of its calls.
func (s *State) discharge(id TxID) {
	if e := s.txs.Get(id); e != nil && e.Status.Final() && !s.owes(&e.Tx) {
		s.retired.Append(&s.owner, id)
	}
}

// unretire takes a Stale or Rejected transaction back.
func (s *State) unretire(id TxID) {
	if at := slices.Index(s.retired.Items(), id); at >= 0 {
		s.retired.Delete(&s.owner, at)
	}
}

// compact keeps the number of full final transactions within bounds.
func (s *State) compact() {
	for s.retired.Len() > Retained {
		id := s.retired.Items()[0]
		s.retired.Delete(&s.owner, 0)
		e := s.txs.Get(id)
		if x := s.sessions.Get(e.Session); x == nil || x.EndedAt != 0 {
			s.forgetTx(e)
			continue
		}
		e = s.own(e)
		e.Nodes, e.Locks, e.Guards, e.Blockers = nil, nil, nil, nil
		e.Edges, e.AddEdges, e.DropEdges = nil, nil, nil
		e.Calls, e.Effects, e.Delayed = nil, nil, nil
		e.order, e.demand, e.union, e.plan, e.guards = nil, nil, nil, nil, nil
		e.slim = true
	}
}

// forgetSlim forgets the slim transactions of a session that has ended.
func (s *State) forgetSlim(id SessionID) {
	var list []*entry
	for _, e := range s.txs.All {
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
	s.txs.Delete(&s.owner, e.ID)
	if e.Key != 0 {
		s.keys.Delete(&s.owner, key{e.Session, e.Key})
	}
	s.unref(e.Session)
}

func (s *State) ref(id SessionID) { s.refs.Set(&s.owner, id, s.refs.Get(id)+1) }

func (s *State) unref(id SessionID) {
	if n := s.refs.Get(id); n > 1 {
		s.refs.Set(&s.owner, id, n-1)
		return
	}
	s.refs.Delete(&s.owner, id)
	s.forgetSession(id)
}

// forgetSession forgets an ended session that nothing mentions any more.
func (s *State) forgetSession(id SessionID) {
	x := s.sessions.Get(id)
	if x == nil || x.EndedAt == 0 || s.refs.Get(id) > 0 {
		return
	}
	s.sessions.Delete(&s.owner, id)
	s.forgetPending(id)
	for _, i := range s.intents.Keys() {
		if s.intents.Get(i).Session == id {
			s.intents.Delete(&s.owner, i)
		}
	}
}

// forgetPending removes the nodes that stood for objects of a session until the
// cloud had chosen their ids. Nobody can name them any more. What is there, and
// has no other node, stays.
func (s *State) forgetPending(id SessionID) {
	prefix := string(graph.PendingOf(string(id), ""))
	var roots []graph.NodeID
	for _, p := range s.graph.Pending() {
		if strings.HasPrefix(string(p), prefix) {
			roots = append(roots, p)
		}
	}
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
