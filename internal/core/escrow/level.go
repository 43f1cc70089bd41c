// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

// Level is how a bucket stands.
type Level struct {
	Bucket       Key
	Limit, Floor Bound
	// Known is false until use was observed; Low, High, Sup and Inf mean
	// nothing before.
	Known bool
	// Low and High bound confirmed use. They differ while an effect may be in
	// the last observation or not.
	Low, High int64
	// Plus and Minus are what holds may add and free: O'Neil's in-flight sums.
	Plus, Minus int64
	// Sup and Inf bound what can be in use.
	Sup, Inf int64
	// Doubt is how much of Plus may be in confirmed use already: calls that ran
	// when it was read.
	Doubt int64
	// Began is the index at which the last observation began.
	Began uint64
	// Overcommitted: sup is above the limit. Nothing is admitted that
	// consumes, nothing is taken back.
	Overcommitted bool
	// Undercut is the same for the floor.
	Undercut bool
}

// Level is how one bucket stands.
func (t *Table) Level(k Key) Level {
	b := t.buckets.Get(k)
	l := Level{
		Bucket: k, Limit: b.limit, Floor: b.floor, Known: b.known, Plus: b.plus, Minus: b.minus, Began: b.began,
		Overcommitted: b.overcommitted(), Undercut: b.undercut(),
	}
	if b.known {
		l.Low, l.High, l.Sup, l.Inf = b.low, b.high, b.sup(), b.inf()
		l.Doubt = t.doubt(k, &b)
	}
	return l
}

func (t *Table) doubt(k Key, b *bucket) int64 {
	var n int64
	for _, h := range t.holds.All {
		for _, c := range h.calls {
			if b.ambiguous(c.Started) {
				n += max(c.Effects.Amount(k), 0)
			}
		}
	}
	return min(n, b.plus)
}

// Buckets are all buckets of which something is known, sorted.
func (t *Table) Buckets() []Key { return t.buckets.Keys() }

// Shortfall is one bucket that does not admit a demand.
type Shortfall struct {
	Level
	Asked Amount
	// Hopeless is true if waiting for what is in flight cannot help; see Stuck.
	Hopeless bool
}

// Shortfalls lists the buckets that do not admit a demand, sorted: empty
// exactly if Admits.
func (t *Table) Shortfalls(d Demand) []Shortfall {
	var list []Shortfall
	for _, a := range d {
		if b := t.buckets.Get(a.Bucket); !b.admits(a.Plus, a.Minus) {
			list = append(list, Shortfall{Level: t.Level(a.Bucket), Asked: a, Hopeless: b.stuck(a.Plus, a.Minus)})
		}
	}
	return list
}

// OnlyUncertain says whether the demand can be met by frees of uncertain calls
// only: it is not hopeless, but would be without them. Such a wait needs a
// deadline, because those calls may never be settled.
func (t *Table) OnlyUncertain(d Demand) bool {
	if t.Hopeless(d) {
		return false
	}
	for _, a := range d {
		b := t.buckets.Get(a.Bucket)
		if b.minus = t.certainFrees(a.Bucket); b.hopeless(a.Plus, 0) {
			return true
		}
	}
	return false
}

// certainFrees is what holds may free of a bucket if no uncertain call ever
// ends.
func (t *Table) certainFrees(k Key) int64 {
	b := t.buckets.Get(k)
	var total int64
	for _, h := range t.holds.All {
		if _, ok := h.sum(k); ok {
			total += h.cut(func(c Held) bool { return c.Uncertain }).extreme(k, &b, -1, active)
		}
	}
	return total
}
