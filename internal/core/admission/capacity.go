// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// BucketOf names a count that belongs to a node, such as the addresses of a
// subnet.
func BucketOf(node graph.NodeID, name string) escrow.Key {
	return escrow.Key(string(node) + "#" + name)
}

// NodeOfBucket is the inverse of BucketOf; ok is false for another key.
func NodeOfBucket(k escrow.Key) (node graph.NodeID, name string, ok bool) {
	at := strings.LastIndexByte(string(k), '#')
	if at <= 0 {
		return "", string(k), false
	}
	return graph.NodeID(k[:at]), string(k[at+1:]), true
}

// Capacity is the capacity table; owners are transaction ids. It must only be
// read, and not kept over an Apply.
func (s *State) Capacity() *escrow.Table { return s.escrow }

// BucketRead is when a bucket was last read, in nanoseconds since the Unix
// epoch; 0 for never.
func (s *State) BucketRead(k escrow.Key) int64 { return s.read.Get(k) }

// reserved says whether the capacity of a call was reserved with its plan.
func (s *State) reserved(tx *Tx) bool {
	p, _ := s.planOf(tx)
	return p != nil && len(s.txs.Get(tx.Plan).demand) > 0
}

// inReservation says whether the reservation of the plan has room for a call.
func (s *State) inReservation(tx *Tx) bool {
	return tx.Plan != "" && s.escrow.Has(escrow.Owner(tx.Plan), tx.Call)
}

// overdrawn is why a call whose plan was reserved cannot have what it turned
// out to need; it never waits for that.
func (s *State) overdrawn(e *entry) []Blocker {
	switch {
	case s.inReservation(&e.Tx):
		err := s.escrow.Extends(escrow.Owner(e.Plan), e.Call, e.Effects)
		if errors.Is(err, escrow.ErrCapacity) {
			return exceeded(s.shortBlockers(e, escrow.One(e.Effects).Demand()))
		}
		return nil
	case s.escrow.Admits(e.demand):
		return nil
	default:
		return exceeded(s.shortBlockers(e, e.demand))
	}
}

// take gives an admitted transaction the capacity that it asks for.
func (s *State) take(x *entry) error {
	switch {
	case x.Action == Reserve && x.order != nil:
		return s.escrow.Reserve(escrow.Owner(x.ID), x.order, x.Whole)
	case x.Action == Reserve:
		return nil
	case s.inReservation(&x.Tx):
		return s.escrow.Extend(escrow.Owner(x.Plan), x.Call, x.Effects)
	case x.order != nil:
		return s.escrow.Reserve(escrow.Owner(x.ID), x.order, true)
	default:
		return nil
	}
}

// holdOf is the call of the capacity table that a transaction stands for.
func (s *State) holdOf(tx *Tx) (owner escrow.Owner, call escrow.CallID, ok bool) {
	if s.inReservation(tx) {
		return escrow.Owner(tx.Plan), tx.Call, true
	}
	return escrow.Owner(tx.ID), "", s.escrow.Has(escrow.Owner(tx.ID), "")
}

// sent tells the capacity table that a call is sent.
func (s *State) sent(tx *Tx) error {
	owner, call, ok := s.holdOf(tx)
	if !ok {
		return nil
	}
	err := s.escrow.Start(owner, call, s.index)
	if tx.Passed != nil {
		return nil // it goes on with what there is
	}
	return err
}

// spend tells the capacity table how a call ended.
func (s *State) spend(tx *Tx, out escrow.Outcome) error {
	owner, call, ok := s.holdOf(tx)
	if !ok {
		return nil
	}
	err := s.escrow.Settle(owner, call, out, s.index)
	if errors.Is(err, escrow.ErrState) && tx.Passed != nil {
		err = s.escrow.Settle(owner, call, escrow.Refused, s.index)
	}
	if owner == escrow.Owner(tx.Plan) {
		s.discharge(tx.Plan)
	}
	return err
}

// admittedCalls are the calls of a plan that may be sent at any moment.
func (s *State) admittedCalls(plan TxID) []CallID {
	var list []CallID
	for _, c := range s.txs.Get(plan).Calls {
		if e := s.txs.Get(s.ongoing.Get(call{plan, c.ID})); e != nil && e.Status == Admitted {
			list = append(list, c.ID)
		}
	}
	return list
}

// capacityOutcome is what the end of a call means for capacity. Whoever read
// the object knows whether it is there, and not what an update has done, nor a
// create of what was there before, nor a delete of what was gone, nor which of
// two calls has done it.
func (s *State) capacityOutcome(x *entry, e TxEnded) escrow.Outcome {
	seen := e.By != "" || e.Cause != ""
	switch {
	case x.StartedIndex == 0, !e.Settled:
		return escrow.Refused
	case e.Status == Operational && (seen && (x.Action == Update || s.disputed(x)) || x.asBefore(e)):
		return escrow.Unclear
	case e.Status == Operational:
		return escrow.Succeeded
	case x.Action == Create && !e.Exists, x.Action == Delete && e.Exists && e.Cause != "":
		return escrow.Refused
	case x.Action == Delete && !e.Exists:
		return escrow.Succeeded
	case x.Action == Update:
		return escrow.Unclear
	default:
		return escrow.Tainted
	}
}

// asBefore says whether the object of a create or delete is after it what it was
// before, as far as is known: there, or gone.
func (t *Tx) asBefore(e TxEnded) bool {
	return t.Action == Create && e.Exists && t.Before.Live() || t.Action == Delete && !e.Exists && t.Before == graph.Absent
}

// shortBlockers are the buckets that do not admit a demand, with those who hold
// capacity of them.
func (s *State) shortBlockers(e *entry, demand escrow.Demand) []Blocker {
	var list []Blocker
	for _, f := range s.escrow.Shortfalls(demand) {
		b := Blocker{
			Relation: lock.Capacity, Class: "capacity", FactAt: s.read.Get(f.Bucket),
			Capacity: &Shortage{
				Bucket: f.Bucket, Limit: f.Limit.Value, Used: f.High, Reserved: f.Plus, Doubt: f.Doubt,
				Asked: f.Asked.Plus, Hopeless: f.Hopeless,
			},
		}
		b.Node, _, _ = NodeOfBucket(f.Bucket)
		b.FactNode = b.Node
		list = append(list, s.sharers(e, b)...)
	}
	return limit(list)
}

// sharers names the transactions that hold capacity of a bucket, or gives the
// numbers alone where it is all in use.
func (s *State) sharers(e *entry, b Blocker) []Blocker {
	var list []Blocker
	for _, share := range s.escrow.Shares(b.Capacity.Bucket) {
		holder := s.sharer(share.Owner, b.Capacity.Bucket)
		if holder == nil || holder.ID == e.ID || share.Plus == 0 && share.Minus == 0 {
			continue
		}
		own := *b.Capacity
		own.Theirs = share.Plus
		c := b
		c.Capacity, c.Holder, c.HolderSession, c.HolderIntent = &own, holder.ID, holder.Session, holder.Intent
		list = append(list, c)
	}
	if list == nil {
		list = s.takers(e, b)
	}
	if list == nil {
		return []Blocker{b}
	}
	return list
}

// maxTakers bounds the sessions that are named for what is in use.
const maxTakers = 3

// takers names the sessions whose calls took what is in use, as far as they are
// remembered, the latest first.
func (s *State) takers(e *entry, b Blocker) []Blocker {
	taken := map[SessionID]*Blocker{}
	var list []*Blocker
	for _, id := range slices.Backward(s.retired.Items()) {
		t := s.txs.Get(id)
		amount := t.Effects.Amount(b.Capacity.Bucket)
		if amount <= 0 || t.Status != Operational || t.Session == e.Session {
			continue
		}
		if n := s.object(t.Self); n == nil || !n.Lifecycle.Live() {
			continue // it was given back since
		}
		x := taken[t.Session]
		if x == nil {
			if len(list) == maxTakers {
				continue
			}
			c, own := b, *b.Capacity
			c.Capacity, c.Holder, c.HolderSession, c.HolderIntent = &own, t.ID, t.Session, t.Intent
			x, taken[t.Session] = &c, &c
			list = append(list, x)
		}
		x.Capacity.Theirs += amount
	}
	out := make([]Blocker, 0, len(list))
	for _, x := range list {
		out = append(out, *x)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// contested says whether a bucket that does not admit a demand is held by
// another session too. What a run takes from itself it waits for.
func (s *State) contested(e *entry, demand escrow.Demand) bool {
	for _, f := range s.escrow.Shortfalls(demand) {
		for _, share := range s.escrow.Shares(f.Bucket) {
			if x := s.sharer(share.Owner, f.Bucket); x == nil || x.Session != e.Session {
				return true
			}
		}
	}
	return false
}

// sharer is who holds what an owner has of a bucket. Of a reservation that is
// over that is one of the calls that are left of it: what is waited for is their
// end.
func (s *State) sharer(owner escrow.Owner, k escrow.Key) *entry {
	e := s.txs.Get(TxID(owner))
	if e == nil || !e.Status.Final() {
		return e
	}
	for _, c := range s.escrow.Calls(owner) {
		if left := s.txs.Get(s.ongoing.Get(call{e.ID, c.ID})); left != nil && c.Effects.Amount(k) != 0 {
			return left
		}
	}
	return e
}

// aheadBlocker reports an earlier waiter for the same capacity.
func (s *State) aheadBlocker(demand escrow.Demand, k escrow.Key, holder *entry) Blocker {
	level := s.escrow.Level(k)
	b := Blocker{
		Relation: lock.Capacity, Class: "capacity", FactAt: s.read.Get(k), Ahead: true,
		Holder: holder.ID, HolderSession: holder.Session, HolderIntent: holder.Intent,
		Capacity: &Shortage{
			Bucket: k, Limit: level.Limit.Value, Used: level.High, Reserved: level.Plus, Doubt: level.Doubt,
			Theirs: holder.demand.Find(k).Plus, Asked: demand.Find(k).Plus,
		},
	}
	b.Node, _, _ = NodeOfBucket(k)
	b.FactNode = b.Node
	return b
}

func (d *decision) measure(c Measure) error {
	if !d.alive(c.Session, d.at) {
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	}
	if c.Began > d.index {
		return fmt.Errorf("%w: a read that began at record %d, after %d", ErrMalformed, c.Began, d.index)
	}
	trial := d.escrow.Clone()
	for _, r := range c.Readings {
		if _, err := apply(trial, r, c.Began, d.index+1); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	if len(c.Readings) > 0 {
		d.emit(Measured{Session: c.Session, At: d.at, Began: c.Began, Readings: c.Readings})
		d.drain()
	}
	return nil
}

// apply takes a reading over, or says that it is older than what is known: then
// it changes nothing (invariant I24), the limit included.
func apply(t *escrow.Table, r Reading, began, at uint64) (taken bool, err error) {
	if r.Use.Set {
		taken, err := t.Observe(r.Bucket, escrow.Observation{Use: r.Use.Value, Began: began, At: at})
		if err != nil || !taken {
			return false, err
		}
	} else if l := t.Level(r.Bucket); l.Known && began < l.Began {
		return false, nil
	}
	if r.Limit.Set {
		return true, t.SetLimit(r.Bucket, r.Limit)
	}
	return true, nil
}

func (s *State) foldMeasured(e Measured) error {
	for _, r := range e.Readings {
		taken, err := apply(s.escrow, r, e.Began, s.index)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrReplay)
		}
		if taken {
			s.read.Set(&s.owner, r.Bucket, e.At)
		}
	}
	return nil
}

// forgetBuckets drops the counts of objects that are gone. One that is still in
// use stays.
func (s *State) forgetBuckets(gone []graph.NodeID) {
	keys := s.escrow.Buckets()
	for _, id := range gone {
		prefix := escrow.Key(id) + "#"
		i, _ := slices.BinarySearch(keys, prefix)
		for ; i < len(keys) && strings.HasPrefix(string(keys[i]), string(prefix)); i++ {
			if s.escrow.Forget(keys[i]) == nil {
				s.read.Delete(&s.owner, keys[i])
			}
		}
	}
}
