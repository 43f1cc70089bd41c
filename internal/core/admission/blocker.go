// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// Blocker is one reason why a transaction is not admitted. It is data; the
// text is made by package conflict.
type Blocker struct {
	Node     graph.NodeID  `json:"node"`
	Relation lock.Relation `json:"relation"`
	// Want and Held are the clashing modes, as text; empty for guards.
	Want string `json:"want,omitempty"`
	Held string `json:"held,omitempty"`
	Rule string `json:"rule,omitempty"`
	// Class is the conflict class of the rule.
	Class string `json:"class,omitempty"`
	// Holder is the transaction that holds the lock, or the earlier waiter;
	// empty for guards without one.
	Holder TxID `json:"holder,omitempty"`
	// HolderSession is set also where no transaction is behind it: a
	// declaration, a reference left by an earlier session.
	HolderSession SessionID `json:"holder_session,omitempty"`
	HolderIntent  IntentID  `json:"holder_intent,omitempty"`
	// Ahead is true when Holder only waits too, with an earlier ticket.
	Ahead bool `json:"ahead,omitempty"`
	// Guard is the guard that failed or waits.
	Guard GuardKind `json:"guard,omitempty"`
	// Fact is what the guard found: the referring node, the lifecycle, the
	// version; FactAt is its age in nanoseconds since the Unix epoch.
	Fact     string       `json:"fact,omitempty"`
	FactNode graph.NodeID `json:"fact_node,omitempty"`
	FactAt   int64        `json:"fact_at,omitempty"`
	// Replan is true when waiting cannot help: the plan is out of date.
	Replan bool `json:"replan,omitempty"`
	// Capacity is set when a bucket is short; Relation is lock.Capacity then.
	Capacity *Shortage `json:"capacity,omitempty"`
	// Claim is the holder's claim, where it is not one call that holds.
	Claim ClaimID `json:"claim,omitempty"`
	// Exceeded is true when the call needs what its claim or reservation did
	// not foresee; Dead is true when a call that belongs with it has failed.
	Exceeded bool `json:"exceeded,omitempty"`
	Dead     bool `json:"dead,omitempty"`
}

// Shortage is a bucket that does not have what a request asks for.
type Shortage struct {
	Bucket escrow.Key `json:"bucket"`
	Limit  int64      `json:"limit"`
	// Used is the confirmed use, as far as it is certain at most; Reserved is
	// what transactions in flight may add, of which Theirs by Blocker's holder.
	Used     int64 `json:"used"`
	Reserved int64 `json:"reserved"`
	Theirs   int64 `json:"theirs,omitempty"`
	// Doubt is how much of Reserved may be counted in Used already.
	Doubt int64 `json:"doubt,omitempty"`
	Asked int64 `json:"asked"`
	// Hopeless: not with the operations now in flight.
	Hopeless bool `json:"hopeless,omitempty"`
}

// MaxBlockers bounds the reasons that are kept with a transaction.
const MaxBlockers = 16

// Blockers are the reasons why a transaction is not admitted: as of now while
// it waits, else as of the decision that ended its wait. Holders come first,
// then objects that have yet to be made, then earlier waiters; at most
// MaxBlockers.
func (s *State) Blockers(id TxID) []Blocker {
	e := s.txs.Get(id)
	if e == nil {
		return nil
	}
	if e.Status != Queued {
		return append([]Blocker(nil), e.Blockers...)
	}
	return s.blockers(e, nil)
}

// Place is the place of a waiting transaction: position is 1 plus the number
// of earlier waiters that it conflicts with, dormant ones included; ahead is
// the number of transactions that have to end before it, waiting or holding:
// a dormant one does not.
// Both are 0 for a transaction that does not wait.
func (s *State) Place(id TxID) (position, ahead int) {
	e := s.txs.Get(id)
	if e == nil || e.Status != Queued {
		return 0, 0
	}
	a := s.asks(e)
	position = 1
	for other := range s.before(&e.Tx) {
		if !s.yields(e, &a, other) {
			continue
		}
		position++
		if s.stands(other) {
			ahead++
		}
	}
	holders := map[lock.Owner]bool{}
	for _, c := range s.conflicts(e, &a) {
		holders[c.Holder.Owner] = true
	}
	for _, f := range s.escrow.Shortfalls(a.demand) {
		for _, share := range s.escrow.Shares(f.Bucket) {
			holders[lock.Owner(share.Owner)] = true
		}
	}
	return position, ahead + len(holders)
}

// conflicts are the holds that exclude what a waiter asks for: calls and, of
// other runs, claims.
func (s *State) conflicts(e *entry, a *asked) []lock.Conflict {
	list := s.locks.Conflicts(lock.Owner(e.ID), e.Locks)
	if a.wide {
		list = append(list, s.foreignCalls(e.Session, a.locks)...)
	}
	if s.claimOf(e.Plan, e.Call) == nil {
		list = append(list, s.foreignClaims(e.Session, a.locks)...)
	}
	return distinct(list)
}

// distinct keeps the first conflict of each holder on each node: a call holds
// beside the claim that it began.
func distinct(list []lock.Conflict) []lock.Conflict {
	type place struct {
		node  graph.NodeID
		owner lock.Owner
	}
	seen := map[place]bool{}
	return slices.DeleteFunc(list, func(c lock.Conflict) bool {
		p := place{c.Want.Node, c.Holder.Owner}
		twice := seen[p]
		seen[p] = true
		return twice
	})
}

// blockers are the reasons why a transaction, which need not be in the queue,
// cannot be admitted now.
func (s *State) blockers(e *entry, own makers) []Blocker {
	tx := &e.Tx
	own = s.ownOf(e, own)
	a := s.asks(e)
	list := s.conflictBlockers(tx, s.conflicts(e, &a))
	list = append(list, s.shortBlockers(e, a.demand)...)
	list = append(list, s.declaredBlockers(tx, s.awaited(tx.Session, a.guards, own))...)
	for w := range s.before(tx) {
		if len(list) >= MaxBlockers {
			break
		}
		switch r, found := s.rivals(e, &a, w); {
		case !found, !s.stands(w):
		case r.bucket != "":
			list = append(list, s.aheadBlocker(a.demand, r.bucket, w))
		default:
			list = append(list, s.lockBlocker(r.mine, r.theirs, w.ID, true))
		}
	}
	return limit(list)
}

func (s *State) conflictBlockers(tx *Tx, conflicts []lock.Conflict) []Blocker {
	var list []Blocker
	for _, c := range conflicts {
		holder := TxID(c.Holder.Owner)
		claim := s.claims.Get(holder)
		if claim == nil || s.locks.Holds(c.Holder.Owner, c.Want.Node) {
			list = append(list, s.lockBlocker(c.Want, c.Held, holder, false))
			continue
		}
		b := s.lockBlocker(c.Want, c.Held, holder, false)
		b.Claim = holder
		list = append(list, b)
	}
	return list
}

// lockBlocker reports two clashing wants. The rule is the one that asks for
// more than an intention: that is the reason, on whichever side it is.
func (s *State) lockBlocker(mine, theirs lock.Want, holder TxID, ahead bool) Blocker {
	h := s.txs.Get(holder)
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
	for _, id := range awaited {
		by := s.declared.Get(id)[0]
		b := Blocker{
			Node: id, Relation: lock.Guarded, Rule: ruleOf(tx.Guards, id), Class: "dependency", Guard: Present,
			HolderSession: by, HolderIntent: s.sessions.Get(by).first,
			Fact: "declared", FactNode: id, FactAt: s.sessions.Get(by).OpenedAt,
		}
		if maker := s.maker(id); maker != nil {
			b.Holder, b.HolderSession, b.HolderIntent = maker.ID, maker.Session, maker.Intent
			b.Ahead = !maker.Status.Holds()
		}
		list = append(list, b)
	}
	return list
}

// ruleOf is the rule that asks for an object to be there.
func ruleOf(guards []Guard, id graph.NodeID) string {
	for _, g := range guards {
		if g.Kind == Present && g.Node == id {
			return g.Rule
		}
	}
	return ""
}

// maker is the transaction that creates a node, running or waiting.
func (s *State) maker(id graph.NodeID) *Tx {
	for _, h := range s.locks.Holders(id) {
		if e := s.txs.Get(TxID(h.Owner)); e.Action == Create && e.Self == id {
			return &e.Tx
		}
	}
	if e := s.creator(id); e != nil {
		return &e.Tx
	}
	return nil
}

func replan(list []Blocker) []Blocker {
	for i := range list {
		list[i].Replan = true
	}
	return list
}

func limit(list []Blocker) []Blocker { return list[:min(len(list), MaxBlockers)] }
