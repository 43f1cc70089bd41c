// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/cow"
)

// Owner is who holds capacity. The table never interprets it.
type Owner string

// Errors of the table. Whenever one is returned, nothing was changed.
var (
	// ErrCapacity: a bound would not hold in every outcome.
	ErrCapacity = errors.New("not enough capacity")
	// ErrExceeded: a draw is larger than what is left for it in its hold.
	ErrExceeded = errors.New("more than was reserved")
	// ErrOwner: the owner has a hold already, or has none.
	ErrOwner = errors.New("no such hold, or a second one")
	// ErrCall: the hold has no unfinished call of that name.
	ErrCall = errors.New("no such unfinished call")
	// ErrState: the call is not in a state for that.
	ErrState = errors.New("the call is in another state")
	// ErrBusy: somebody holds capacity in the bucket.
	ErrBusy = errors.New("the bucket is in use")
)

// Table is the buckets and who holds what of them.
//
// Guarantees: what is held of a bucket is at all times the sum over the holds
// (invariant I7); a hold is taken in all buckets or in none; only SetLimit,
// SetFloor and Observe can break a bound (I5, I6); every answer is in a fixed
// order. Not guaranteed: any order among those who want the same capacity.
// There is no waiting here; see package admission.
type Table struct {
	owner   cow.Owner
	buckets cow.Map[Key, bucket]
	holds   cow.Map[Owner, *hold]
}

// NewTable is a table without buckets. One comes into being with its first
// bound, observation or hold; without a limit and an observation it only
// watches.
func NewTable() *Table { return &Table{} }

// Clone is an independent copy. It takes no time; what is different later is
// copied then. The table must not be used by others meanwhile.
func (t *Table) Clone() *Table {
	t.owner.Part()
	c := *t
	return &c
}

// SetLimit makes the limit of a bucket known or unknown. A limit below what is
// held takes nothing back; see Level.Overcommitted.
func (t *Table) SetLimit(k Key, limit Bound) error {
	return t.bound(k, limit, func(b *bucket) { b.limit = limit })
}

// SetFloor gives a bucket a floor, for resources that have one; quotas do not.
func (t *Table) SetFloor(k Key, floor Bound) error {
	return t.bound(k, floor, func(b *bucket) { b.floor = floor })
}

func (t *Table) bound(k Key, n Bound, set func(*bucket)) error {
	if k == "" || !n.valid() {
		return fmt.Errorf("%w: bound %d on %q", ErrMalformed, n.Value, k)
	}
	t.update(k, set)
	return nil
}

// update changes a bucket, and forgets one of which nothing is known.
func (t *Table) update(k Key, f func(*bucket)) {
	b := t.buckets.Get(k)
	f(&b)
	if b.blank() {
		t.buckets.Delete(&t.owner, k)
		return
	}
	t.buckets.Set(&t.owner, k, b)
}

// Observe takes over what a read saw. False means that it was older than an
// observation taken before, or than what is remembered, and changed nothing
// (I24).
func (t *Table) Observe(k Key, o Observation) (bool, error) {
	if k == "" || o.Use > MaxAmount || o.Use < -MaxAmount || o.Began > o.At {
		return false, fmt.Errorf("%w: use %d of %q, read from %d to %d", ErrMalformed, o.Use, k, o.Began, o.At)
	}
	b := t.buckets.Get(k)
	if !b.observe(o) {
		return false, nil
	}
	t.buckets.Set(&t.owner, k, b)
	for _, owner := range t.Owners() {
		h := t.holds.Get(owner)
		if _, ok := h.sum(k); ok {
			t.revised(owner, &hold{calls: h.calls, before: h.before}, k)
		}
	}
	return true, nil
}

// Forget drops a bucket with the resource it belonged to.
func (t *Table) Forget(k Key) error {
	for owner, h := range t.holds.All {
		if _, ok := h.sum(k); ok {
			return fmt.Errorf("%s: %w by %s", k, ErrBusy, owner)
		}
	}
	t.buckets.Delete(&t.owner, k)
	return nil
}

// Admits says whether the demand fits next to all holds, in all its buckets.
// A bucket without a known limit or without an observation stops nobody.
func (t *Table) Admits(d Demand) bool {
	for _, a := range d {
		if b := t.buckets.Get(a.Bucket); !b.admits(a.Plus, a.Minus) {
			return false
		}
	}
	return true
}

// Hopeless says whether some bucket could not take the demand even if all that
// runs, and the rest of all active claims, turned out in its favour. Frees
// that were merely declared do not count: two plans could wait for each other.
func (t *Table) Hopeless(d Demand) bool {
	for _, a := range d {
		if b := t.buckets.Get(a.Bucket); b.hopeless(a.Plus, a.Minus) {
			return true
		}
	}
	return false
}

// Stuck says whether some bucket will not take the demand by anything that is in
// flight: not with what is confirmed to be in use at most. It is true wherever
// Hopeless is, and where only a new observation could tell more. Who waits
// although it is stuck may wait for ever.
func (t *Table) Stuck(d Demand) bool {
	for _, a := range d {
		if b := t.buckets.Get(a.Bucket); b.stuck(a.Plus, a.Minus) {
			return true
		}
	}
	return false
}

// Reserve takes what an order may need for an owner that holds nothing yet, or
// nothing. Claimed is true for a single call and a claim: their frees will be
// sent. It is false for the reservation of a plan, whose calls have each to be
// drawn before they start.
func (t *Table) Reserve(owner Owner, o Order, claimed bool) error {
	if owner == "" || t.holds.Get(owner) != nil {
		return fmt.Errorf("%q: %w", owner, ErrOwner)
	}
	if err := o.Validate(); err != nil {
		return err
	}
	calls := make([]Held, 0, len(o))
	for _, c := range o {
		calls = append(calls, Held{Call: c, Claimed: claimed})
	}
	h := newHold(calls)
	h.measure(t.look)
	if !t.Admits(h.demand()) {
		return fmt.Errorf("%s: %w", owner, ErrCapacity)
	}
	t.replace(owner, h)
	return nil
}

func (t *Table) look(k Key) bucket { return t.buckets.Get(k) }

// revised stores the new state of a hold that changed in some buckets only; see
// remeasure.
func (t *Table) revised(owner Owner, h *hold, keys ...Key) {
	h.remeasure(t.holds.Get(owner), keys, t.look)
	t.replace(owner, h)
}

// replace stores the new state of a hold, with its sums. One without calls is
// over.
func (t *Table) replace(owner Owner, h *hold) {
	if old := t.holds.Get(owner); old != nil {
		t.add(old.sums, -1)
	}
	if len(h.calls) == 0 {
		t.holds.Delete(&t.owner, owner)
		return
	}
	if h.sums == nil {
		h.measure(t.look)
	}
	t.holds.Set(&t.owner, owner, h)
	t.add(h.sums, 1)
}

func (t *Table) add(sums []sum, sign int64) {
	for _, s := range sums {
		t.update(s.key, func(b *bucket) {
			b.plus += sign * s.plus
			b.minus += sign * s.minus
			b.dip += sign * s.dip
		})
	}
}

// call finds an unfinished call.
func (t *Table) call(owner Owner, id CallID) (*hold, int, error) {
	h := t.holds.Get(owner)
	if h == nil {
		return nil, 0, fmt.Errorf("%q: %w", owner, ErrOwner)
	}
	i := h.find(id)
	if i < 0 {
		return nil, 0, fmt.Errorf("call %q of %s: %w", id, owner, ErrCall)
	}
	return h, i, nil
}

// Has says whether an owner has an unfinished call of that name.
func (t *Table) Has(owner Owner, id CallID) bool {
	h := t.holds.Get(owner)
	return h != nil && h.find(id) >= 0
}

// Holds says whether an owner holds anything.
func (t *Table) Holds(owner Owner) bool { return t.holds.Get(owner) != nil }

// Owners are all who hold something, sorted.
func (t *Table) Owners() []Owner { return t.holds.Keys() }

// Calls are the unfinished calls of an owner, by id. They must not be written
// to.
func (t *Table) Calls(owner Owner) []Held {
	if h := t.holds.Get(owner); h != nil {
		return slices.Clone(h.calls)
	}
	return nil
}

// Share is what one owner holds of a bucket.
type Share struct {
	Owner Owner `json:"owner"`
	Plus  int64 `json:"plus,omitempty"`
	Minus int64 `json:"minus,omitempty"`
	// Uncertain is true if a call of the owner on this bucket may never be
	// known to have ended.
	Uncertain bool `json:"uncertain,omitempty"`
}

// Shares are the holds on a bucket, by owner.
func (t *Table) Shares(k Key) []Share {
	var list []Share
	for owner, h := range t.holds.All {
		if s, ok := h.sum(k); ok {
			list = append(list, Share{Owner: owner, Plus: s.plus, Minus: s.minus, Uncertain: h.uncertain(k)})
		}
	}
	slices.SortFunc(list, func(a, b Share) int { return cmp.Compare(a.Owner, b.Owner) })
	return list
}

func (h *hold) uncertain(k Key) bool {
	return slices.ContainsFunc(h.calls, func(c Held) bool { return c.Uncertain && c.Effects.Amount(k) != 0 })
}
