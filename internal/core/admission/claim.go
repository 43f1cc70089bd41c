// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// ClaimID names an active claim: the transaction under which it was admitted.
type ClaimID = TxID

// Claim is what several calls of one plan hold together, and what keeps their
// intent whole (invariant I21). It excludes other runs, from before its first
// call to after its last; the locks of a call exclude every other call. It is
// admitted in one step, so that a run never waits while it holds part of one;
// the calls inside it wait for running calls of their own run and for nothing
// else. That is why two runs that cross can always go on.
type Claim struct {
	ID   ClaimID `json:"id"`
	Plan TxID    `json:"plan"`
	// Calls are those of the plan that had not ended when it was admitted.
	Calls []CallID  `json:"calls"`
	Locks lock.Plan `json:"locks"`
	Since int64     `json:"since"` // nanoseconds since the Unix epoch
}

// Claims are the active claims, by id.
func (s *State) Claims() []Claim {
	list := make([]Claim, 0, s.claims.Len())
	for _, c := range s.claims.All {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// claimsOf are the active claims of a plan, by id.
func (s *State) claimsOf(plan TxID) []*Claim {
	var list []*Claim
	for _, c := range s.claims.All {
		if c.Plan == plan {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Claim) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// planOf is the plan that foresaw a call, with its place there; nil for a call
// that no plan foresaw.
func (s *State) planOf(tx *Tx) (*plan, int) {
	if tx.Plan == "" {
		return nil, -1
	}
	p := s.plans.Get(tx.Plan)
	if p == nil {
		return nil, -1
	}
	i := p.find(tx.Call)
	if i < 0 {
		return nil, -1
	}
	return p, i
}

// claimOf is the active claim that a planned call belongs to.
func (s *State) claimOf(plan TxID, id CallID) *Claim {
	at, ok := s.within.Find(call{plan, id})
	if !ok {
		return nil
	}
	return s.claims.Get(at)
}

// beginClaim makes a claim active, and endClaim is the inverse.
func (s *State) beginClaim(c *Claim) error {
	s.claims.Set(&s.owner, c.ID, c)
	s.epoch++
	for _, id := range c.Calls {
		s.within.Set(&s.owner, call{c.Plan, id}, c.ID)
	}
	return s.hold(s.txs.Get(c.Plan).Session)
}

func (s *State) endClaim(c *Claim) error {
	s.claims.Delete(&s.owner, c.ID)
	s.epoch++
	for _, id := range c.Calls {
		s.within.Delete(&s.owner, call{c.Plan, id})
	}
	return s.hold(s.txs.Get(c.Plan).Session)
}

// ClaimOf is the active claim that a transaction's call belongs to.
func (s *State) ClaimOf(id TxID) (Claim, bool) {
	e := s.txs.Get(id)
	if e == nil || e.Plan == "" {
		return Claim{}, false
	}
	c := s.claimOf(e.Plan, e.Call)
	if c == nil {
		return Claim{}, false
	}
	return *c, true
}

// taken says which calls of a plan are in an active claim.
func (s *State) taken(plan TxID, p *plan) func(int) bool {
	if s.claims.Len() == 0 {
		return func(int) bool { return false }
	}
	return func(i int) bool { return s.claimOf(plan, p.calls[i].ID) != nil }
}

// excluded says whether claims of other runs exclude a lock plan.
func (s *State) excluded(session SessionID, locks lock.Plan) bool {
	return s.claims.Len() > 0 && len(s.claimed.Conflicts(lock.Owner(session), locks)) > 0
}

// foreignClaims are the claims of other runs that exclude a lock plan; each
// conflict names the claim as its holder.
func (s *State) foreignClaims(session SessionID, locks lock.Plan) []lock.Conflict {
	if !s.excluded(session, locks) {
		return nil
	}
	conflicts := s.claimed.Conflicts(lock.Owner(session), locks)
	for i, c := range conflicts {
		claim, held := s.claimOn(SessionID(c.Holder.Owner), c.Want)
		conflicts[i].Holder.Owner, conflicts[i].Held = lock.Owner(claim), held
	}
	return conflicts
}

// claimOn is the claim of a session that excludes a want.
func (s *State) claimOn(session SessionID, w lock.Want) (ClaimID, lock.Want) {
	for _, c := range s.Claims() {
		held, ok := c.Locks.Find(w.Node)
		if ok && s.txs.Get(c.Plan).Session == session && !mode.Compatible(held.Mode, w.Mode) {
			return c.ID, held
		}
	}
	return "", lock.Want{}
}

// hold makes the claims of a session what it holds: together, since they do not
// exclude each other.
func (s *State) hold(session SessionID) error {
	var plans []lock.Plan
	for _, c := range s.claims.All {
		if s.txs.Get(c.Plan).Session == session {
			plans = append(plans, c.Locks)
		}
	}
	s.claimed.Release(lock.Owner(session))
	if len(plans) == 0 {
		return nil
	}
	return s.claimed.Acquire(lock.Owner(session), lock.Union(plans...))
}

// foreignCalls are the calls of other runs that exclude a lock plan.
func (s *State) foreignCalls(session SessionID, locks lock.Plan) []lock.Conflict {
	if s.locks.Free(locks) {
		return nil
	}
	return slices.DeleteFunc(s.locks.Conflicts("", locks), func(c lock.Conflict) bool {
		return s.txs.Get(TxID(c.Holder.Owner)).Session == session
	})
}

// inside judges a call of an active claim: it goes on at once as far as other
// runs are concerned, or never.
func (s *State) inside(e *entry, own makers) (verdict, []Blocker) {
	tx := &e.Tx
	foreign := append(s.foreignCalls(tx.Session, tx.Locks), s.foreignClaims(tx.Session, tx.Locks)...)
	switch awaited := s.awaited(tx.Session, tx.Guards, own); {
	case len(foreign) > 0:
		return refuse, exceeded(s.conflictBlockers(tx, foreign))
	case len(awaited) > 0:
		return refuse, exceeded(s.declaredBlockers(tx, awaited))
	case !s.locks.Free(tx.Locks):
		return aside, nil
	}
	if short := s.overdrawn(e); len(short) > 0 {
		return refuse, short
	}
	return s.guarded(tx, tx.Guards, own)
}

func exceeded(list []Blocker) []Blocker {
	for i := range list {
		list[i].Exceeded = true
	}
	return limit(list)
}

// deadBlockers tell which call of the same intent has failed.
func (s *State) deadBlockers(tx *Tx, p *plan, at int) []Blocker {
	for _, j := range p.group[at] {
		if p.phases[j] == dead && j != at {
			return []Blocker{{
				Node: p.calls[j].Self, Relation: lock.Same, Class: "dependency", Dead: true, Fact: string(p.calls[j].ID),
				HolderSession: tx.Session, HolderIntent: tx.Intent, FactNode: p.calls[j].Self, FactAt: s.now,
			}}
		}
	}
	return []Blocker{{
		Node: tx.Self, Relation: lock.Same, Class: "dependency", Dead: true, Fact: string(tx.Call),
		HolderSession: tx.Session, HolderIntent: tx.Intent, FactNode: tx.Self, FactAt: s.now,
	}}
}

// claim begins the claim that a waiter is about to get.
func (d *decision) claim(id ClaimID, planTx TxID, members []int) {
	p := d.plans.Get(planTx)
	c := Claim{ID: id, Plan: planTx, Locks: p.locks(members), Since: d.at}
	for _, i := range members {
		c.Calls = append(c.Calls, p.calls[i].ID)
	}
	d.emit(ClaimAdmitted{Claim: c})
	d.again = true // the other calls of the claim need not wait any more
}

func (s *State) foldClaimAdmitted(e ClaimAdmitted) error {
	c := e.Claim
	p := s.plans.Get(c.Plan)
	if p == nil || s.claims.Get(c.ID) != nil {
		return fmt.Errorf("claim %s of plan %s: %w", c.ID, c.Plan, ErrReplay)
	}
	s.ahead = nil
	if err := s.beginClaim(&c); err != nil {
		return fmt.Errorf("claim %s: %w: %w", c.ID, err, ErrReplay)
	}
	var frees []CallID
	for _, id := range c.Calls {
		if s.escrow.Has(escrow.Owner(c.Plan), id) {
			frees = append(frees, id)
		}
	}
	if err := s.escrow.Commit(escrow.Owner(c.Plan), frees...); err != nil {
		return fmt.Errorf("claim %s: %w: %w", c.ID, err, ErrReplay)
	}
	return nil
}

// doom takes back the admitted calls of a plan that must not be sent any more,
// because another call of their intent has failed meanwhile.
func (d *decision) doom(planTx TxID) {
	if !slices.Contains(d.plans.Get(planTx).phases, dead) {
		return
	}
	for i, c := range d.plans.Get(planTx).calls {
		if p := d.plans.Get(planTx); !p.lost(i) {
			continue
		}
		if e := d.txs.Get(d.ongoing.Get(call{planTx, c.ID})); e != nil && e.Status == Admitted {
			d.emit(TxEnded{Tx: e.ID, At: d.at, Status: Withdrawn, Cause: "a call that belongs with it has failed"})
		}
	}
}

// closeClaims ends the claims of a plan whose calls are all over.
func (d *decision) closeClaims(planTx TxID) {
	if d.plans.Get(planTx) == nil {
		return
	}
	d.doom(planTx)
	p := d.plans.Get(planTx)
	for _, c := range d.claimsOf(planTx) {
		open := func(id CallID) bool { return p.open(p.find(id)) }
		if c.ID != planTx && !slices.ContainsFunc(c.Calls, open) {
			d.emit(ClaimEnded{Claim: c.ID, At: d.at})
		}
	}
}

// dissolve ends all claims of a plan, whatever their calls are at, and tells
// which intents stay halves.
func (d *decision) dissolve(planTx TxID) {
	p := d.plans.Get(planTx)
	for _, c := range d.claimsOf(planTx) {
		var broken []graph.NodeID
		for _, id := range c.Calls {
			if i := p.find(id); p.mixed(i) {
				broken = append(broken, p.calls[i].Self)
			}
		}
		slices.Sort(broken)
		d.emit(ClaimEnded{Claim: c.ID, At: d.at, Broken: slices.Compact(broken)})
	}
}

// HalfReplaced is the result in the history of an object whose replace has
// begun and will not be ended by its run.
const HalfReplaced = "half replaced"

func (s *State) foldClaimEnded(e ClaimEnded) error {
	c := s.claims.Get(e.Claim)
	if c == nil {
		return fmt.Errorf("claim %s: %w", e.Claim, ErrReplay)
	}
	s.ahead = nil
	owner := s.txs.Get(c.Plan)
	if err := s.endClaim(c); err != nil {
		return fmt.Errorf("claim %s: %w: %w", e.Claim, err, ErrReplay)
	}
	for _, id := range e.Broken {
		n := s.object(id)
		if n == nil {
			continue
		}
		if n.Lifecycle == graph.Operational {
			s.lifecycle(n.ID, graph.Failed, owner.Session)
		}
		s.remember(n.ID, graph.Change{
			At: e.At, Session: string(owner.Session), Intent: string(owner.Intent),
			Tx: string(e.Claim), Action: "replace", Result: HalfReplaced,
		})
	}
	return nil
}
