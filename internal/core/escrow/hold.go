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
	sums  []sum // derived
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
	i, ok := slices.BinarySearchFunc(h.sums, k, func(s sum, k Key) int { return cmp.Compare(s.key, k) })
	if !ok {
		return sum{key: k}, false
	}
	return h.sums[i], true
}

// with is the hold with one call changed.
func (h *hold) with(i int, f func(*Held)) *hold {
	calls := slices.Clone(h.calls)
	f(&calls[i])
	return &hold{calls: calls}
}

// without is the hold after a call has succeeded: nobody waits for it.
func (h *hold) without(i int) *hold {
	id := h.calls[i].ID
	var calls []Held
	for j, c := range h.calls {
		if j == i {
			continue
		}
		if at, ok := slices.BinarySearch(c.After, id); ok {
			c.After = slices.Delete(slices.Clone(c.After), at, at+1)
		}
		calls = append(calls, c)
	}
	return &hold{calls: calls}
}

// cut is the hold after the calls that gone names have failed: whatever comes
// after them will never be sent.
func (h *hold) cut(gone func(Held) bool) *hold {
	dead := map[CallID]bool{}
	for grown := true; grown; {
		grown = false
		for _, c := range h.calls {
			if !dead[c.ID] && (gone(c) || slices.ContainsFunc(c.After, func(a CallID) bool { return dead[a] })) {
				dead[c.ID], grown = true, true
			}
		}
	}
	var calls []Held
	for _, c := range h.calls {
		if !dead[c.ID] {
			calls = append(calls, c)
		}
	}
	return &hold{calls: calls}
}

// order is the partial order of the calls that keep admits.
func (h *hold) order(keep func(Held) bool) (o Order, kept []Held) {
	for _, c := range h.calls {
		if keep(c) {
			o = append(o, c.Call)
			kept = append(kept, c)
		}
	}
	return o, kept
}

func all(Held) bool { return true }

// active are the calls whose frees others may hope for.
func active(c Held) bool { return c.Claimed || c.Started != 0 }

// measure sets the sums of the hold. An ambiguous free lowers nothing any more
// as far as the peak is concerned, an ambiguous consumer raises nothing as far
// as the troughs are.
func (h *hold) measure(look func(Key) bucket) {
	whole, _ := h.order(all)
	h.sums = nil
	for _, k := range whole.buckets() {
		b := look(k)
		h.sums = append(h.sums, sum{
			key:   k,
			plus:  h.extreme(k, &b, 1, all),
			minus: h.extreme(k, &b, -1, active),
			dip:   h.extreme(k, &b, -1, all),
		})
	}
}

// extreme is the peak (sign 1) or the trough (sign -1) of some of the calls.
func (h *hold) extreme(k Key, b *bucket, sign int64, keep func(Held) bool) int64 {
	o, kept := h.order(keep)
	w := o.weights(k, sign)
	for i, c := range kept {
		if w[i] < 0 && b.ambiguous(c.Started) {
			w[i] = 0
		}
	}
	return heaviest(w, o.before())
}
