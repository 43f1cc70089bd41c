// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// This file is an account of the protocol in other terms than the machine's: of
// what operations touch, and of a cloud that they change. It knows no lock modes
// (but to write requests down), no queue, and no sums that are kept.

// touch is a part of the cloud that an operation writes or reads: the object and
// all that it contains.
type touch struct {
	path  string
	write bool
}

// disturb says whether two operations must not be under way together: what one
// writes, the other touches.
func disturb(a, b []touch) bool {
	for _, x := range a {
		for _, y := range b {
			if (x.write || y.write) && nested(x.path, y.path) {
				return true
			}
		}
	}
	return false
}

func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// contend says whether two operations take of the same capacity: they are served
// in their order.
func contend(a, b *operation) bool {
	for k, n := range a.effects {
		if n > 0 && b.effects[k] > 0 {
			return true
		}
	}
	return false
}

// planOfTouches writes touches down as locks: what is written X, what is read S, and
// above both the intention.
func planOfTouches(list []touch) lock.Plan {
	modes := map[string]mode.Mode{}
	join := func(path string, m mode.Mode) {
		old := modes[path]
		switch {
		case old == mode.S && m == mode.IX, old == mode.IX && m == mode.S:
			modes[path] = mode.SIX
		case m > old && (old != mode.SIX || m == mode.X):
			modes[path] = m
		}
	}
	for _, t := range list {
		own, above := mode.S, mode.IS
		if t.write {
			own, above = mode.X, mode.IX
		}
		join(t.path, own)
		for p := up(t.path); p != ""; p = up(p) {
			join(p, above)
		}
	}
	var plan lock.Plan
	for path, m := range modes {
		w := lock.Want{Node: graph.NodeID(path), Mode: m, Relation: lock.Ancestor}
		if slices.ContainsFunc(list, func(t touch) bool { return t.path == path }) {
			w.Relation, w.Rule = lock.Same, "sim/touch"
		}
		plan = append(plan, w)
	}
	slices.SortFunc(plan, func(a, b lock.Want) int { return strings.Compare(string(a.Node), string(b.Node)) })
	return plan
}

func up(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// operation is one call, or what a plan foresees of one.
type operation struct {
	id      TxID // empty for what was only foreseen so far
	session SessionID
	action  Action
	self    string
	touches []touch
	effects map[escrow.Key]int64
	life    uint64 // of what it deletes
	// The rest is of planned calls.
	plan  *design
	call  CallID
	after []*operation
	group []*operation // with itself; empty for a call by itself

	sent, landed, over, dead bool
}

// design is a plan as its run sees it.
type design struct {
	id    TxID
	calls []*operation
	over  bool
	claim map[*operation]bool // active, by what the machine said
}

// die marks an operation that will not happen, and what cannot happen without
// it.
func (o *operation) die() {
	if o.dead || o.sent {
		return
	}
	o.dead = true
	o.fall()
}

// fall: what comes after an operation that failed is not sent, and of an intent
// that has not begun nothing is.
func (o *operation) fall() {
	if o.plan == nil {
		return
	}
	for _, x := range o.plan.calls {
		if slices.Contains(x.after, o) {
			x.die()
		}
	}
	if o.group != nil && !slices.ContainsFunc(o.group, func(x *operation) bool { return x.sent && x != o || x.sent && !x.dead && x == o && !x.over }) {
		for _, x := range o.group {
			x.die()
		}
	}
}

// cloud is what is really there, and what is allowed.
type cloud struct {
	exists map[string]bool
	limit  map[escrow.Key]int64
}

// land lets an operation change the cloud.
func (c *cloud) land(o *operation) {
	if o.landed {
		return
	}
	o.landed = true
	switch o.action {
	case Create:
		c.exists[o.self] = true
	case Delete:
		delete(c.exists, o.self)
	}
}

// bucketsOf are the capacities that a leaf object takes one of.
func bucketsOf(path string) []escrow.Key {
	return []escrow.Key{"quota", BucketOf(graph.NodeID(up(path)), "ips")}
}

// there says whether an object exists; what contains others always does.
func (c *cloud) there(path string) bool { return c.exists[path] || strings.Count(path, "/") < 3 }

// use counts what is there.
func (c *cloud) use(k escrow.Key) int64 {
	n := int64(0)
	for path := range c.exists {
		if slices.Contains(bucketsOf(path), k) {
			n++
		}
	}
	return n
}

// more is the most of a bucket that operations may still come to take: the
// peak over all sets that can have happened, of one call or of a whole plan.
func more(calls []*operation, k escrow.Key) int64 {
	var open []*operation
	for _, o := range calls {
		if !o.landed && !o.over && !o.dead {
			open = append(open, o)
		}
	}
	most := int64(0)
	for set := range 1 << len(open) {
		sum, closed := int64(0), true
		for i, o := range open {
			if set>>i&1 == 0 {
				continue
			}
			sum += o.effects[k]
			for j, before := range open {
				if slices.Contains(o.after, before) && set>>j&1 == 0 {
					closed = false
				}
			}
		}
		if closed {
			most = max(most, sum)
		}
	}
	return most
}
