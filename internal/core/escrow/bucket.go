// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import "slices"

// history is how many ended effects a bucket remembers for observations that
// began before they ended.
const history = 256

// Bound is a number that may not be known or not exist.
type Bound struct {
	Set   bool  `json:"set"`
	Value int64 `json:"value"`
}

// At is a bound that is known.
func At(n int64) Bound { return Bound{Set: true, Value: n} }

func (b Bound) valid() bool {
	return b.Value >= -MaxAmount && b.Value <= MaxAmount && (b.Set || b.Value == 0)
}

// Observation is what a read saw of a bucket, everybody's use included.
type Observation struct {
	Use int64 `json:"use"`
	// Began is the index of the last journal record when the read began; all
	// that had ended by then is in Use.
	Began uint64 `json:"began"`
	// At is the index of the record that takes the observation over; what is
	// started after it is not in Use.
	At uint64 `json:"at"`
}

// bucket is one count. Its slice is replaced, never written to.
type bucket struct {
	limit, floor Bound
	// known is false until the first observation; then use is between low and
	// high, as far as calls have ended.
	known     bool
	low, high int64
	began, at uint64 // of the last observation taken
	// ended are effects that ended after began, oldest first. Observations
	// that began before horizon would need more than is remembered.
	ended   []landing
	horizon uint64

	// Sums over all holds, derived: see sum.
	plus, minus, dip int64
}

// landing is the effects that landed, or may have, in one record; both numbers
// are not negative.
type landing struct {
	Index uint64 `json:"index"`
	Plus  int64  `json:"plus,omitempty"`
	Minus int64  `json:"minus,omitempty"`
}

func (b *bucket) sup() int64 { return b.high + b.plus }

func (b *bucket) inf() int64 { return b.low - b.minus }

// deepest is below inf by the frees that were merely declared. A floor has to
// hold for them as well, since nobody asks again when they are drawn.
func (b *bucket) deepest() int64 { return b.low - b.dip }

func (b *bucket) capped() bool { return b.known && b.limit.Set }

func (b *bucket) floored() bool { return b.known && b.floor.Set }

func (b *bucket) overcommitted() bool { return b.capped() && b.sup() > b.limit.Value }

func (b *bucket) undercut() bool { return b.floored() && b.deepest() < b.floor.Value }

// most bounds the sums of holds on a bucket, so that those without a limit do
// not overflow.
const most = 1 << 61

// admits says whether both bounds allow for the amounts. What asks nothing in
// one direction is not stopped by a bound in that direction: an overcommitted
// bucket must still be possible to empty.
func (b *bucket) admits(plus, minus int64) bool {
	if plus > most-b.plus || minus > most-b.dip {
		return false
	}
	over := plus > 0 && b.capped() && b.sup()+plus > b.limit.Value
	under := minus > 0 && b.floored() && b.deepest()-minus < b.floor.Value
	return !over && !under
}

// hopeless says whether no outcome of what is in flight could make room.
func (b *bucket) hopeless(plus, minus int64) bool {
	over := plus > 0 && b.capped() && b.inf()+plus > b.limit.Value
	under := minus > 0 && b.floored() && b.sup()-minus < b.floor.Value
	return over || under
}

// stuck says whether nothing that is in flight can make room, as far as use is
// confirmed. It is more than hopeless where confirmed use is an interval: what
// would end that doubt is a read, and no call.
func (b *bucket) stuck(plus, minus int64) bool {
	over := plus > 0 && b.capped() && b.high-b.minus+plus > b.limit.Value
	under := minus > 0 && b.floored() && b.low+b.plus-minus < b.floor.Value
	return over || under
}

// land confirms an effect. Exact is false if it may be counted already, or may
// not have happened: each end of the interval then assumes what is worse.
func (b *bucket) land(amount int64, exact bool, index uint64) {
	up, down := max(amount, 0), max(-amount, 0)
	if b.known {
		b.high += up
		b.low -= down
		if exact {
			b.high -= down
			b.low += up
		}
	}
	b.remember(landing{Index: index, Plus: up, Minus: down})
}

// remember keeps the effect for the next observation. Too long a memory is cut
// at the price of reads that began before the cut.
func (b *bucket) remember(l landing) {
	if n := len(b.ended); n > 0 && b.ended[n-1].Index == l.Index {
		b.ended = slices.Clone(b.ended)
		b.ended[n-1].Plus += l.Plus
		b.ended[n-1].Minus += l.Minus
		return
	}
	b.ended = append(slices.Clip(b.ended), l)
	if len(b.ended) > history {
		b.horizon = b.ended[0].Index
		b.ended = b.ended[1:]
	}
}

// observe takes an observation over, unless it is older than the last one or
// than the memory.
func (b *bucket) observe(o Observation) bool {
	if b.known && o.Began < b.began || o.Began < b.horizon {
		return false
	}
	var ended []landing
	b.low, b.high = o.Use, o.Use
	for _, l := range b.ended {
		if l.Index > o.Began {
			ended = append(ended, l)
			b.high += l.Plus
			b.low -= l.Minus
		}
	}
	b.ended, b.known, b.began, b.at = ended, true, o.Began, max(b.at, o.At)
	return true
}

// ambiguous says whether a call that was started at an index, and runs or has
// only just ended, may be in the last observation.
func (b *bucket) ambiguous(started uint64) bool {
	return b.known && started != 0 && started <= b.at
}

// blank says whether the bucket is worth keeping.
func (b *bucket) blank() bool {
	return !b.limit.Set && !b.floor.Set && !b.known && len(b.ended) == 0 && b.horizon == 0 &&
		b.plus == 0 && b.minus == 0 && b.dip == 0
}
