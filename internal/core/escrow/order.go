// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxCalls bounds the calls of one order.
const MaxCalls = 1 << 14

// CallID names a call within its order. The only call of an order of one may
// have the empty name.
type CallID string

// Call is one provider call as far as capacity is concerned.
type Call struct {
	ID      CallID  `json:"id"`
	Effects Effects `json:"effects,omitempty"`
	// After are calls of the same order that must have succeeded before this
	// one is sent, sorted. If one of them fails, this one is never sent.
	After []CallID `json:"after,omitempty"`
}

// Order is a partial order of calls, sorted by id.
type Order []Call

// One is the order of a single call.
func One(e Effects) Order { return Order{{Effects: e}} }

// Arrange makes an Order of calls in any order. An After that names no call of
// the list stands for one that has succeeded already, and is left out.
func Arrange(calls ...Call) (Order, error) {
	o := slices.Clone(Order(calls))
	slices.SortFunc(o, func(a, b Call) int { return cmp.Compare(a.ID, b.ID) })
	for i, c := range o {
		after := slices.DeleteFunc(slices.Clone(c.After), func(id CallID) bool { return o.find(id) < 0 })
		slices.Sort(after)
		o[i].After = slices.Compact(after)
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return o, nil
}

// find is the place of a call, negative if there is none.
func (o Order) find(id CallID) int {
	i, ok := slices.BinarySearchFunc(o, id, func(c Call, id CallID) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return -1
	}
	return i
}

// Validate checks that Arrange could have made the order; in particular that
// no call comes after itself.
func (o Order) Validate() error {
	if len(o) == 0 || len(o) > MaxCalls {
		return fmt.Errorf("%w: an order of %d calls", ErrMalformed, len(o))
	}
	for i, c := range o {
		if i > 0 && o[i-1].ID >= c.ID {
			return fmt.Errorf("%w: call %q is out of order or named twice", ErrMalformed, c.ID)
		}
		if err := c.Effects.Validate(); err != nil {
			return fmt.Errorf("call %q: %w", c.ID, err)
		}
		for j, a := range c.After {
			if o.find(a) < 0 || j > 0 && c.After[j-1] >= a {
				return fmt.Errorf("%w: call %q after %q", ErrMalformed, c.ID, a)
			}
		}
	}
	if !o.acyclic() {
		return fmt.Errorf("%w: calls that wait for each other", ErrMalformed)
	}
	return nil
}

// acyclic takes away calls with nothing before them until none is left.
func (o Order) acyclic() bool {
	before := o.before()
	waits := make([]int, len(o))
	next := make([][]int, len(o))
	var ready []int
	for i, list := range before {
		if waits[i] = len(list); waits[i] == 0 {
			ready = append(ready, i)
		}
		for _, p := range list {
			next[p] = append(next[p], i)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		for _, n := range next[ready[done]] {
			if waits[n]--; waits[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
	return done == len(o)
}

// before are the places of the calls that each call directly comes after.
func (o Order) before() [][]int {
	list := make([][]int, len(o))
	for i, c := range o {
		for _, a := range c.After {
			if p := o.find(a); p >= 0 {
				list[i] = append(list[i], p)
			}
		}
	}
	return list
}

// buckets are all buckets that a call has an effect on, sorted.
func (o Order) buckets() []Key {
	var keys []Key
	for _, c := range o {
		for _, e := range c.Effects {
			keys = append(keys, e.Bucket)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Peak is the most by which the calls can raise a bucket at any moment,
// whichever of them have landed by then: the maximum over all down-closed
// subsets, the empty one included. It is exact; see heaviest.
func (o Order) Peak(k Key) int64 { return heaviest(o.weights(k, 1), o.before(), nil) }

// Trough is the most by which the calls can lower a bucket at any moment, as a
// number that is not negative.
func (o Order) Trough(k Key) int64 { return heaviest(o.weights(k, -1), o.before(), nil) }

func (o Order) weights(k Key, sign int64) []int64 {
	w := make([]int64, len(o))
	for i, c := range o {
		w[i] = sign * c.Effects.Amount(k)
	}
	return w
}

// Amount is what an order asks of one bucket, both numbers not negative.
type Amount struct {
	Bucket Key `json:"bucket"`
	// Plus is the peak, Minus the trough.
	Plus  int64 `json:"plus,omitempty"`
	Minus int64 `json:"minus,omitempty"`
}

// Demand is what an order asks of all its buckets, sorted by bucket.
type Demand []Amount

// Demand measures the order. The answer stays right while the order waits, so
// a waiter is measured once.
func (o Order) Demand() Demand {
	before := o.before()
	var d Demand
	for _, k := range o.buckets() {
		d = append(d, Amount{
			Bucket: k,
			Plus:   heaviest(o.weights(k, 1), before, nil),
			Minus:  heaviest(o.weights(k, -1), before, nil),
		})
	}
	return d
}

// Find is what a demand asks of a bucket; zero where it asks nothing.
func (d Demand) Find(k Key) Amount {
	i, ok := slices.BinarySearchFunc(d, k, func(a Amount, k Key) int { return cmp.Compare(a.Bucket, k) })
	if !ok {
		return Amount{Bucket: k}
	}
	return d[i]
}

// Contends is the first bucket that both demands consume from: what makes an
// earlier waiter one that nobody may overtake.
func (d Demand) Contends(other Demand) (Key, bool) {
	for _, a := range d {
		if a.Plus > 0 && other.Find(a.Bucket).Plus > 0 {
			return a.Bucket, true
		}
	}
	return "", false
}
