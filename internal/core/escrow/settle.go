// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"fmt"
	"slices"
)

// Outcome is how a started call ended, as far as capacity is concerned.
type Outcome string

// The outcomes of Settle.
const (
	// Succeeded: the effects are there.
	Succeeded Outcome = "succeeded"
	// Tainted: the call failed and left an object. It uses capacity; whether
	// what the call should have freed is free only a read can tell.
	Tainted Outcome = "tainted"
	// Unclear: the call failed on an object that was there, and has had all of
	// its effects, or none, or some.
	Unclear Outcome = "unclear"
	// Refused: the call was definitely refused, or never sent. It had no
	// effect.
	Refused Outcome = "refused"
	// Uncertain: nobody knows. What the call may add and free stays held.
	Uncertain Outcome = "uncertain"
)

// Commit makes declared calls of a hold claimed: their claim has become
// active, and others may hope for their frees.
func (t *Table) Commit(owner Owner, ids ...CallID) error {
	if len(ids) == 0 {
		return nil
	}
	var next *hold
	for _, id := range ids {
		h, i, err := t.call(owner, id)
		if err != nil {
			return err
		}
		if next == nil {
			next = &hold{calls: slices.Clone(h.calls), before: h.before}
		}
		next.calls[i].Claimed = true
	}
	old, keys := t.holds.Get(owner), []Key{}
	for _, s := range old.sums {
		keys = append(keys, s.key)
	}
	next.activated(old, keys, t.look)
	t.replace(owner, next)
	return nil
}

// Draw says what a call really needs, when it is about to be sent, and claims
// it. That may be anything that leaves the hold no larger than it is in any
// bucket, else ErrExceeded (I26). What turns out not to be needed returns.
func (t *Table) Draw(owner Owner, id CallID, e Effects) error {
	h, next, err := t.revise(owner, id, e, false)
	if err != nil {
		return err
	}
	for _, g := range t.growth(h, next) {
		if b := t.buckets.Get(g.Bucket); g.Plus > 0 || g.Minus > 0 && b.floor.Set {
			return fmt.Errorf("call %q of %s on %s: %w", id, owner, g.Bucket, ErrExceeded)
		}
	}
	t.replace(owner, next)
	return nil
}

// Extend is Draw for a call with an unforeseen need: what the hold is too
// small for is taken at once, or ErrCapacity returned. That the call is about
// to be sent shows that nothing has to come before it any more, whatever the
// order said.
func (t *Table) Extend(owner Owner, id CallID, e Effects) error {
	next, err := t.extended(owner, id, e)
	if err != nil {
		return err
	}
	t.replace(owner, next)
	return nil
}

// Extends is the error that Extend would return.
func (t *Table) Extends(owner Owner, id CallID, e Effects) error {
	if h, i, err := t.call(owner, id); err == nil && h.foresaw(i, e) {
		return nil // without measuring it: nothing grows
	}
	_, err := t.extended(owner, id, e)
	return err
}

func (t *Table) extended(owner Owner, id CallID, e Effects) (*hold, error) {
	h, next, err := t.revise(owner, id, e, true)
	if err != nil {
		return nil, err
	}
	grown := t.growth(h, next)
	if !t.Admits(grown) {
		return nil, fmt.Errorf("call %q of %s: %w", id, owner, ErrCapacity)
	}
	return next, nil
}

// revise is the hold with other effects of a call that was not started. It is
// the first one of the order that is left when first is true.
func (t *Table) revise(owner Owner, id CallID, e Effects, first bool) (old, next *hold, err error) {
	h, i, err := t.call(owner, id)
	if err != nil {
		return nil, nil, err
	}
	if h.calls[i].Started != 0 {
		return nil, nil, fmt.Errorf("call %q of %s has started: %w", id, owner, ErrState)
	}
	if err := e.Validate(); err != nil {
		return nil, nil, err
	}
	next = h.with(i, func(c *Held) {
		c.Effects, c.Claimed = e, true
		if first {
			c.After = nil
		}
	})
	switch {
	case h.foresaw(i, e):
		next.activated(h, e.keys(), t.look)
	case len(h.calls[i].After) > 0:
		next.measure(t.look) // the order is another one, or more of it is active
	default:
		next.remeasure(h, append(h.calls[i].Effects.keys(), e.keys()...), t.look)
	}
	return h, next, nil
}

// growth is by how much next holds more than old, where it does.
func (t *Table) growth(old, next *hold) Demand {
	var d Demand
	for _, n := range next.sums {
		o, _ := old.sum(n.key)
		if a := (Amount{Bucket: n.key, Plus: max(n.plus-o.plus, 0), Minus: max(n.dip-o.dip, 0)}); a.Plus+a.Minus > 0 {
			d = append(d, a)
		}
	}
	return d
}

// Start says that a call is sent, in the record of that index. From here on it
// may land at any moment, and observations may or may not have seen it.
// The calls before it must have succeeded; a declared call must be drawn.
func (t *Table) Start(owner Owner, id CallID, index uint64) error {
	h, i, err := t.call(owner, id)
	if err != nil {
		return err
	}
	c := h.calls[i]
	if c.Started != 0 || !c.Claimed || len(c.After) > 0 || index == 0 {
		return fmt.Errorf("start of call %q of %s: %w", id, owner, ErrState)
	}
	next := h.with(i, func(c *Held) { c.Started = index })
	next.sums = h.sums // it was active before
	if t.ambiguous(c.Effects, index) {
		next.remeasure(h, c.Effects.keys(), t.look)
	}
	t.replace(owner, next)
	return nil
}

// ambiguous says whether what a call that starts at an index does may be in an
// observation already.
func (t *Table) ambiguous(e Effects, index uint64) bool {
	return slices.ContainsFunc(e, func(x Effect) bool {
		b := t.buckets.Get(x.Bucket)
		return b.ambiguous(index)
	})
}

// Settle ends a call, in the record of that index, or says that its outcome is
// not known. A call is settled once (I25); an uncertain one may still be. If it
// did not succeed, the calls after it will never be sent and are dropped. Only
// Refused may be said of a call that was not started.
func (t *Table) Settle(owner Owner, id CallID, out Outcome, index uint64) error {
	h, i, err := t.call(owner, id)
	if err != nil {
		return err
	}
	if h.calls[i].Started == 0 && out != Refused || index < h.calls[i].Started {
		return fmt.Errorf("call %q of %s is %s before it started: %w", id, owner, out, ErrState)
	}
	failed := func(c Held) bool { return c.ID == id }
	keys := h.calls[i].Effects.keys()
	switch out {
	case Succeeded:
		t.land(h.calls[i], out, index)
		t.revised(owner, h.without(i), keys...)
	case Tainted, Unclear:
		t.land(h.calls[i], out, index)
		t.replace(owner, h.cut(failed))
	case Refused:
		t.replace(owner, h.cut(failed))
	case Uncertain:
		next := h.with(i, func(c *Held) { c.Uncertain = true })
		next.sums = h.sums // that counts as before
		t.replace(owner, next)
	default:
		return fmt.Errorf("%w: outcome %q", ErrMalformed, out)
	}
	return nil
}

// land confirms the effects of a call.
func (t *Table) land(c Held, out Outcome, index uint64) {
	for _, e := range c.Effects {
		t.update(e.Bucket, func(b *bucket) {
			maybe := out == Unclear || out == Tainted && e.Amount < 0
			b.land(e.Amount, !maybe && !b.ambiguous(c.Started), index)
		})
	}
}

// Release gives back what an owner holds for calls that were not started, and
// says whether it held anything for such. Calls that may be running keep what
// they hold, and so do the kept ones, which are about to be sent: nothing has to
// come before them any more.
func (t *Table) Release(owner Owner, kept ...CallID) bool {
	h := t.holds.Get(owner)
	if h == nil {
		return false
	}
	next := h.cut(func(c Held) bool { return c.Started == 0 && !slices.Contains(kept, c.ID) })
	if len(next.calls) == len(h.calls) {
		return false
	}
	t.replace(owner, next)
	return true
}
