// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// MaxBlockers bounds the reasons that are kept with a transaction.
const MaxBlockers = 16

// Blockers are the reasons why a transaction is not admitted: as of now while
// it waits, else as of the decision that ended its wait. Holders come first,
// then objects that have yet to be made, then earlier waiters; at most
// MaxBlockers.
func (s *State) Blockers(id TxID) []Blocker {
	e := s.txs[id]
	if e == nil {
		return nil
	}
	if e.Status != Queued {
		return append([]Blocker(nil), e.Blockers...)
	}
	return s.blockers(&e.Tx, nil)
}

// Place is the place of a waiting transaction: position is 1 plus the number
// of earlier waiters that it conflicts with, dormant ones included; ahead is
// the number of transactions that have to end before it, waiting or holding.
// Both are 0 for a transaction that does not wait.
func (s *State) Place(id TxID) (position, ahead int) {
	e := s.txs[id]
	if e == nil || e.Status != Queued {
		return 0, 0
	}
	for other := range s.before(&e.Tx) {
		if _, _, clash := e.Locks.Clash(other.Locks); clash {
			ahead++
		}
	}
	position = ahead + 1
	holders := map[lock.Owner]bool{}
	for _, c := range s.locks.Conflicts(lock.Owner(id), e.Locks) {
		holders[c.Holder.Owner] = true
	}
	return position, ahead + len(holders)
}

// blockers are the reasons why tx, which need not be in the queue, cannot be
// admitted now.
func (s *State) blockers(tx *Tx, own map[graph.NodeID]bool) []Blocker {
	var list []Blocker
	for _, c := range s.locks.Conflicts(lock.Owner(tx.ID), tx.Locks) {
		list = append(list, s.lockBlocker(c.Want, c.Held, TxID(c.Holder.Owner), false))
	}
	list = append(list, s.declaredBlockers(tx, s.awaited(tx, own))...)
	for e := range s.before(tx) {
		if len(list) >= MaxBlockers {
			break
		}
		if mine, theirs, clash := tx.Locks.Clash(e.Locks); clash && !s.dormant(&e.Tx) {
			list = append(list, s.lockBlocker(mine, theirs, e.ID, true))
		}
	}
	return limit(list)
}

// lockBlocker reports two clashing wants. The rule is the one that asks for
// more than an intention: that is the reason, on whichever side it is.
func (s *State) lockBlocker(mine, theirs lock.Want, holder TxID, ahead bool) Blocker {
	h := s.txs[holder]
	b := Blocker{
		Node: mine.Node, Relation: mine.Relation,
		Want: mine.Mode.String(), Held: theirs.Mode.String(),
		Rule: mine.Rule, Class: mine.Class,
		Holder: holder, HolderSession: h.Session, HolderIntent: h.Intent, Ahead: ahead,
	}
	if b.Rule == "" {
		b.Rule, b.Class = theirs.Rule, theirs.Class
	}
	return b
}

// declaredBlockers report objects that other sessions have yet to make.
func (s *State) declaredBlockers(tx *Tx, awaited []graph.NodeID) []Blocker {
	var list []Blocker
	for _, g := range tx.Guards {
		if g.Kind != Present || !slices.Contains(awaited, g.Node) {
			continue
		}
		by := s.declared[g.Node][0]
		b := Blocker{
			Node: g.Node, Relation: lock.Guarded, Rule: g.Rule, Class: "dependency", Guard: Present,
			HolderSession: by, HolderIntent: s.sessions[by].first,
			Fact: "declared", FactNode: g.Node, FactAt: s.sessions[by].OpenedAt,
		}
		if maker := s.maker(g.Node); maker != nil {
			b.Holder, b.HolderSession, b.HolderIntent = maker.ID, maker.Session, maker.Intent
			b.Ahead = !maker.Status.Holds()
		}
		list = append(list, b)
	}
	return list
}

// maker is the transaction that creates a node, running or waiting.
func (s *State) maker(id graph.NodeID) *Tx {
	for _, h := range s.locks.Holders(id) {
		if e := s.txs[TxID(h.Owner)]; e.Action == Create && e.Self == id {
			return &e.Tx
		}
	}
	return s.creator(id)
}

func replan(list []Blocker) []Blocker {
	for i := range list {
		list[i].Replan = true
	}
	return list
}

func limit(list []Blocker) []Blocker { return list[:min(len(list), MaxBlockers)] }
