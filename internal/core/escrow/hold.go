// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"cmp"
	"slices"
)

// Held is one unfinished call of a hold.
type Held struct {
	Call
	// Claimed is true if others may hope for the frees of the call: it belongs
	// to an active claim, or was drawn.
	Claimed bool `json:"claimed,omitempty"`
	// Started is the index of the record that started the call; 0 before.
	Started uint64 `json:"started,omitempty"`
	// Uncertain is true if the outcome of the call may never be known.
	Uncertain bool `json:"uncertain,omitempty"`
}

// hold is what an owner has: its unfinished calls, sorted by id, and what they
// come to. Never changed, only replaced.
type hold struct {
	calls []Held
	// before are the places of the calls directly before each one; derived.
	before [][]int
	sums   []sum // derived; nil until measured
}

func newHold(calls []Held) *hold {
	h := &hold{calls: calls}
	h.before = h.order().before()
	return h
}

// sum is what a hold has of one bucket, none of the numbers negative.
type sum struct {
	key Key
	// plus is the peak of the remaining calls.
	plus int64
	// minus is the trough of those that run or are claimed.
	minus int64
	// dip is the trough of all.
	dip int64
}

func (h *hold) find(id CallID) int {
	i, ok := slices.BinarySearchFunc(h.calls, id, func(c Held, id CallID) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return -1
	}
	return i
}

func (h *hold) sum(k Key) (sum, bool) {
	i, ok := slices.BinarySearchFunc(h.sums, k, compareKey)
	if !ok {
		return sum{key: k}, false
	}
	return h.sums[i], true
}

func compareKey(s sum, k Key) int { return cmp.Compare(s.key, k) }

// with is the hold with one call changed, whose After may have been cleared.
func (h *hold) with(i int, f func(*Held)) *hold {
	next := &hold{calls: slices.Clone(h.calls), before: h.before}
	f(&next.calls[i])
	if len(next.calls[i].After) == 0 && len(h.before[i]) > 0 {
		next.before = slices.Clone(h.before)
		next.before[i] = nil
	}
	return next
}

// without is the hold after a call has succeeded: nobody waits for it.
func (h *hold) without(i int) *hold {
	gone := make([]bool, len(h.calls))
	gone[i] = true
	next := h.drop(gone)
	for j, c := range next.calls {
		if at, ok := slices.BinarySearch(c.After, h.calls[i].ID); ok {
			next.calls[j].After = slices.Delete(slices.Clone(c.After), at, at+1)
		}
	}
	return next
}

// cut is the hold after the calls that gone names have failed: whatever comes
// after them will never be sent.
func (h *hold) cut(gone func(Held) bool) *hold {
	dead := make([]bool, len(h.calls))
	for i, c := range h.calls {
		dead[i] = gone(c)
	}
	for grown := true; grown; {
		grown = false
		for i, before := range h.before {
			if !dead[i] && slices.ContainsFunc(before, func(p int) bool { return dead[p] }) {
				dead[i], grown = true, true
			}
		}
	}
	return h.drop(dead)
}

// drop is the hold without some calls.
func (h *hold) drop(gone []bool) *hold {
	at := make([]int, len(h.calls))
	next := &hold{}
	for i, c := range h.calls {
		if at[i] = len(next.calls); !gone[i] {
			next.calls = append(next.calls, c)
		}
	}
	for i, before := range h.before {
		if gone[i] {
			continue
		}
		var list []int
		for _, p := range before {
			if !gone[p] {
				list = append(list, at[p])
			}
		}
		next.before = append(next.before, list)
	}
	return next
}

// order is the partial order of the calls.
func (h *hold) order() Order {
	o := make(Order, 0, len(h.calls))
	for _, c := range h.calls {
		o = append(o, c.Call)
	}
	return o
}

func all(Held) bool { return true }

// active are the calls whose frees others may hope for.
func active(c Held) bool { return c.Claimed || c.Started != 0 }

// measure sets the sums of the hold.
func (h *hold) measure(look func(Key) bucket) {
	h.sums = []sum{}
	for _, k := range h.order().buckets() {
		h.sums = append(h.sums, h.sumOf(k, look(k)))
	}
}

// remeasure sets the sums of a hold that differs from an old one in calls that
// have effects on some buckets only. What is left out of the order by such a
// change, or becomes active in it, has nothing before it or takes everything
// behind it along; so it decides nothing about other buckets.
func (h *hold) remeasure(old *hold, keys []Key, look func(Key) bucket) {
	h.sums = slices.Clone(old.sums)
	for _, k := range keys {
		i, had := slices.BinarySearchFunc(h.sums, k, compareKey)
		has := slices.ContainsFunc(h.calls, func(c Held) bool { return c.Effects.Amount(k) != 0 })
		switch {
		case has && had:
			h.sums[i] = h.sumOf(k, look(k))
		case has:
			h.sums = slices.Insert(h.sums, i, h.sumOf(k, look(k)))
		case had:
			h.sums = slices.Delete(h.sums, i, i+1)
		}
	}
}

// foresaw says whether the hold has just these effects of a call that has nothing
// before it and was not started.
func (h *hold) foresaw(i int, e Effects) bool {
	c := &h.calls[i]
	return c.Started == 0 && len(c.After) == 0 && slices.Equal(c.Effects, e)
}

// activated sets the sums of a hold that differs from an old one in what is
// active: in the buckets of one call.
func (h *hold) activated(old *hold, keys []Key, look func(Key) bucket) {
	h.sums = slices.Clone(old.sums)
	for _, k := range keys {
		if at, ok := slices.BinarySearchFunc(h.sums, k, compareKey); ok {
			b := look(k)
			h.sums[at].minus = h.extreme(k, &b, -1, active)
		}
	}
}

// demand is what a hold asks for before any of its calls is sent.
func (h *hold) demand() Demand {
	var d Demand
	for _, s := range h.sums {
		d = append(d, Amount{Bucket: s.key, Plus: s.plus, Minus: s.dip})
	}
	return d
}

func (h *hold) sumOf(k Key, b bucket) sum {
	return sum{key: k, plus: h.extreme(k, &b, 1, all), minus: h.extreme(k, &b, -1, active), dip: h.extreme(k, &b, -1, all)}
}

// extreme is the peak (sign 1) or the trough (sign -1) of some of the calls. An
// ambiguous free lowers nothing any more as far as the peak is concerned, an
// ambiguous consumer raises nothing as far as the troughs are.
func (h *hold) extreme(k Key, b *bucket, sign int64, keep func(Held) bool) int64 {
	w := make([]int64, len(h.calls))
	absent := make([]bool, len(h.calls))
	for i, c := range h.calls {
		if absent[i] = !keep(c); absent[i] {
			continue
		}
		if w[i] = sign * c.Effects.Amount(k); w[i] < 0 && b.ambiguous(c.Started) {
			w[i] = 0
		}
	}
	return heaviest(w, h.before, absent)
}
