// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// This file is a cloud that knows nothing of the table: what is really in use,
// which calls have really landed, what a read really saw. Every interleaving of
// every command with every outcome is tried on small configurations, and the
// table is judged by that cloud alone.

// progress is how far a call has really come.
type progress int

const (
	unsent  progress = iota
	flying           // sent; may land or not
	landed           // the cloud has done it
	refused          // the cloud has not done it and will not
	broken           // failed, with an object left
	ended            // answered, with success
	dead             // answered or dropped, without
)

// agent is somebody who reserves an order once, and then sends its calls.
type agent struct {
	owner   Owner
	order   Order
	claimed bool
}

// scene is a configuration: all that can happen in it.
type scene struct {
	limit, floor Bound
	use          int64 // at the beginning, known unless blind
	blind        bool
	agents       []agent
	reads        int   // how many reads may be made
	lower        Bound // a limit that may be set once
	outside      int64 // a change from outside that may happen once
	release      bool  // owners may vanish
	plain        bool  // no tainted objects and no lost answers
}

// world is one state.
type world struct {
	table *Table
	index uint64
	use   int64 // what is really in use
	seats []seat
	reads []read
	made  int  // reads begun
	low   bool // the limit was lowered
	moved uint64
	// astray is true from a change from outside to a read that began after it.
	astray bool
}

// seat is the real state of an agent.
type seat struct {
	came, gone bool
	calls      []progress
	lost       []bool // settled as uncertain
}

// read is a read under way.
type read struct {
	began uint64
	seen  bool
	value int64
}

const bucketKey Key = "a"

func (w *world) clone() *world {
	c := *w
	c.table = w.table.Clone()
	c.seats = slices.Clone(w.seats)
	for i, s := range c.seats {
		c.seats[i].calls, c.seats[i].lost = slices.Clone(s.calls), slices.Clone(s.lost)
	}
	c.reads = slices.Clone(w.reads)
	return &c
}

// key identifies a state up to the values of indexes.
func (w *world) key() string {
	ranks := append(w.table.Indexes(), w.moved)
	for _, r := range w.reads {
		ranks = append(ranks, r.began)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	rank := func(i uint64) uint64 {
		n, _ := slices.BinarySearch(ranks, i)
		return uint64(n)
	}
	b := w.table.AppendCanonical(nil, rank)
	b = fmt.Append(b, w.use, w.seats, w.made, w.low, rank(w.moved), w.astray)
	for _, r := range w.reads {
		b = fmt.Append(b, rank(r.began), r.seen, r.value, ";")
	}
	return string(b)
}

// explorer walks through all states of a scene.
type explorer struct {
	*scene
	t     *testing.T
	seen  map[string]bool
	count map[string]int // how often something of interest was met
}

// explore is the number of states, and what was met on the way.
func explore(t *testing.T, s scene) map[string]int {
	t.Helper()
	x := &explorer{scene: &s, t: t, seen: map[string]bool{}, count: map[string]int{}}
	w := &world{table: NewTable(), index: 1, use: s.use}
	for _, a := range s.agents {
		w.seats = append(w.seats, seat{calls: make([]progress, len(a.order)), lost: make([]bool, len(a.order))})
	}
	x.must(w, w.table.SetLimit(bucketKey, s.limit))
	x.must(w, w.table.SetFloor(bucketKey, s.floor))
	if !s.blind {
		_, err := w.table.Observe(bucketKey, Observation{Use: s.use, Began: 1, At: 1})
		x.must(w, err)
	}
	type step struct {
		w     *world
		trail []string
	}
	todo := []step{{w: w}}
	for len(todo) > 0 {
		now := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		k := now.w.key()
		if x.seen[k] {
			continue
		}
		x.seen[k] = true
		x.check(now.w)
		if t.Failed() {
			t.Fatalf("after %q\nuse %d, seats %v, level %+v", now.trail, now.w.use, now.w.seats, now.w.table.Level(bucketKey))
		}
		x.moves(now.w, func(what string, next *world) {
			x.compare(what, now.w, next)
			trail := append(slices.Clip(now.trail), what)
			if t.Failed() {
				t.Fatalf("after %q\nbefore %+v\nafter %+v", trail, now.w.table.Level(bucketKey), next.table.Level(bucketKey))
			}
			todo = append(todo, step{next, trail})
		})
	}
	x.count["states"] = len(x.seen)
	return x.count
}

func (x *explorer) must(w *world, err error) {
	x.t.Helper()
	if err != nil {
		x.t.Errorf("%v; use %d, seats %v", err, w.use, w.seats)
	}
}

// moves calls f with everything that can happen next.
func (x *explorer) moves(w *world, f func(string, *world)) {
	try := func(what string, do func(*world)) {
		next := w.clone()
		next.index++
		do(next)
		f(what, next)
	}
	for i, a := range x.agents {
		s := w.seats[i]
		switch {
		case !s.came && w.table.Admits(a.order.Demand()):
			try("reserve "+string(a.owner), func(n *world) {
				x.must(n, n.table.Reserve(a.owner, a.order, a.claimed))
				n.seats[i].came = true
			})
		case !s.came:
			x.count["waits"]++
			if w.table.Hopeless(a.order.Demand()) {
				x.count["hopeless"]++
			}
		case !s.gone:
			x.callMoves(w, i, try)
		}
	}
	x.readMoves(w, try)
	if x.lower.Set && !w.low {
		try("lower", func(n *world) {
			x.must(n, n.table.SetLimit(bucketKey, x.lower))
			n.low = true
		})
	}
	if x.outside != 0 && w.moved == 0 {
		try("outside", func(n *world) { n.use, n.moved, n.astray = n.use+x.outside, n.index, true })
	}
}

func (x *explorer) callMoves(w *world, i int, try func(string, func(*world))) {
	a, s := x.agents[i], w.seats[i]
	if x.release && slices.Contains(s.calls, unsent) {
		try("release "+string(a.owner), func(n *world) {
			if !n.table.Release(a.owner) {
				x.t.Errorf("%s held nothing for calls that were not sent", a.owner)
			}
			for j, p := range n.seats[i].calls {
				if p == unsent {
					n.seats[i].calls[j] = dead
				}
			}
		})
	}
	for j, c := range a.order {
		what := string(a.owner) + string(c.ID)
		amount := c.Effects.Amount(bucketKey)
		to := func(p progress, by int64) func(*world) {
			return func(n *world) { n.seats[i].calls[j], n.use = p, n.use+by }
		}
		answer := func(p progress, out Outcome) func(*world) {
			return func(n *world) {
				x.must(n, n.table.Settle(a.owner, c.ID, out, n.index))
				n.seats[i].calls[j] = p
				if p == dead {
					x.skip(n, i)
				}
			}
		}
		switch s.calls[j] {
		case unsent:
			if x.ready(a, s, c) {
				// Whoever holds a reservation never waits for capacity again.
				try("start "+what, func(n *world) {
					if !a.claimed {
						x.must(n, n.table.Draw(a.owner, c.ID, c.Effects))
					}
					x.must(n, n.table.Start(a.owner, c.ID, n.index))
					n.seats[i].calls[j] = flying
				})
			}
		case flying:
			try("land "+what, to(landed, amount))
			try("refuse "+what, to(refused, 0))
			if !x.plain {
				try("break "+what, to(broken, amount))
			}
			if !x.plain && amount < 0 {
				try("break without effect "+what, to(broken, 0))
			}
		case landed:
			try("success "+what, answer(ended, Succeeded))
		case refused:
			try("refusal "+what, answer(dead, Refused))
		case broken:
			try("taint "+what, answer(dead, Tainted))
		}
		if p := s.calls[j]; p >= flying && p <= broken && !s.lost[j] && !x.plain {
			try("lose "+what, func(n *world) {
				x.must(n, n.table.Settle(a.owner, c.ID, Uncertain, n.index))
				n.seats[i].lost[j] = true
			})
		}
	}
}

// ready says whether everything before a call has succeeded.
func (x *explorer) ready(a agent, s seat, c Call) bool {
	return !slices.ContainsFunc(c.After, func(id CallID) bool { return s.calls[a.order.find(id)] != ended })
}

// skip is Terraform giving up what comes after a failed call.
func (x *explorer) skip(n *world, i int) {
	a := x.agents[i]
	for range a.order {
		for j, c := range a.order {
			for _, id := range c.After {
				if n.seats[i].calls[a.order.find(id)] == dead {
					n.seats[i].calls[j] = dead
				}
			}
		}
	}
}

func (x *explorer) readMoves(w *world, try func(string, func(*world))) {
	if w.made < x.scene.reads {
		try("begin read", func(n *world) {
			n.index-- // nothing is journalled
			n.made++
			n.reads = append(n.reads, read{began: n.index})
		})
	}
	for i, r := range w.reads {
		if !r.seen {
			try(fmt.Sprint("see ", i), func(n *world) {
				n.index--
				n.reads[i].seen, n.reads[i].value = true, n.use
			})
			continue
		}
		try(fmt.Sprint("observe ", i), func(n *world) {
			taken, err := n.table.Observe(bucketKey, Observation{Use: r.value, Began: r.began, At: n.index})
			x.must(n, err)
			if taken && r.began >= n.moved {
				n.astray = false
			}
			if !taken {
				x.count["late"]++
			}
			n.reads = slices.Delete(n.reads, i, i+1)
		})
	}
}

// reach is the extremes that real use can come to by what was granted: every
// set of calls that can still land.
func (x *explorer) reach(w *world, counts func(a agent, s seat, j int) bool) (least, most int64) {
	least, most = w.use, w.use
	for i, a := range x.agents {
		s := w.seats[i]
		if !s.came {
			continue
		}
		var down, up int64
		subsets(a.order.before(), func(in []bool) {
			var sum int64
			for j, c := range a.order {
				p := s.calls[j]
				switch {
				case in[j] && p == landed, !in[j] && p != ended:
				case p == ended:
					if !in[j] {
						return
					}
				case in[j] && (p == unsent || p == flying) && counts(a, s, j):
					sum += c.Effects.Amount(bucketKey)
				default: // it failed: neither it nor what comes after it
					return
				}
			}
			down, up = min(down, sum), max(up, sum)
		})
		least, most = least+down, most+up
	}
	return least, most
}

// check judges one state.
func (x *explorer) check(w *world) {
	verify(x.t, w.table)
	l := w.table.Level(bucketKey)
	for i, a := range x.agents {
		over := w.seats[i].came && !slices.ContainsFunc(w.seats[i].calls, func(p progress) bool { return p < ended })
		if over && w.table.Calls(a.owner) != nil {
			x.t.Errorf("%s is over and holds %v", a.owner, w.table.Calls(a.owner))
		}
	}
	if !l.Known || w.astray {
		return
	}
	everything := func(agent, seat, int) bool { return true }
	running := func(a agent, s seat, j int) bool { return a.claimed || s.calls[j] == flying }
	_, most := x.reach(w, everything)
	least, _ := x.reach(w, running)
	if l.Sup < most {
		x.t.Errorf("use can reach %d, sup is %d", most, l.Sup)
	}
	if l.Inf > least {
		x.t.Errorf("use can reach %d, inf is %d", least, l.Inf)
	}
	if !x.blind && !w.low && w.moved == 0 && most > x.limit.Value {
		x.t.Errorf("use can reach %d, the limit is %d", most, x.limit.Value)
	}
	if lowest, _ := x.reach(w, everything); x.floor.Set && !x.blind && w.moved == 0 && lowest < x.floor.Value {
		x.t.Errorf("use can reach %d, the floor is %d", lowest, x.floor.Value)
	}
	x.meet(w, l, most, least)
}

// meet counts what shows that a scene is not trivial.
func (x *explorer) meet(w *world, l Level, most, least int64) {
	for what, is := range map[string]bool{
		"full": l.Sup == l.Limit.Value, "ambiguous": l.Low < l.High, "overcommitted": l.Overcommitted,
		"exact sup": l.Sup == most, "exact inf": l.Inf == least, "loose": l.Sup > most,
	} {
		if is {
			x.count[what]++
		}
	}
	if l.Sup > most && l.Low == l.High && w.made == 0 && !slices.ContainsFunc(w.seats, func(s seat) bool {
		return slices.Contains(s.calls, landed) || slices.Contains(s.calls, refused) || slices.Contains(s.calls, broken)
	}) {
		x.t.Errorf("nothing is unanswered and nothing was read, and sup is %d for %d", l.Sup, most)
	}
}

// compare judges one step: only a limit, an observation, and a reservation that
// fits may raise sup.
func (x *explorer) compare(what string, before, after *world) {
	b, a := before.table.Level(bucketKey), after.table.Level(bucketKey)
	if !a.Known || !b.Known || what == "lower" || what[:3] == "obs" {
		return
	}
	if what[:3] == "res" {
		if a.Sup > b.Sup && a.Sup > a.Limit.Value || a.Inf < b.Inf && a.Undercut {
			x.t.Errorf("%s broke a bound", what)
		}
		return
	}
	if a.Sup > b.Sup {
		x.t.Errorf("%s raised sup from %d to %d", what, b.Sup, a.Sup)
	}
	if a.Inf < b.Inf && what[:3] != "sta" {
		x.t.Errorf("%s lowered inf from %d to %d", what, b.Inf, a.Inf)
	}
}

// verify checks what a table promises about itself (I7).
func verify(t *testing.T, table *Table) {
	t.Helper()
	plus, minus := map[Key]int64{}, map[Key]int64{}
	for _, o := range table.Owners() {
		calls := table.Calls(o)
		if len(calls) == 0 {
			t.Errorf("%s holds nothing", o)
		}
		running := map[Key]int64{}
		for _, c := range calls {
			for _, e := range c.Effects {
				if c.Started != 0 && e.Amount > 0 {
					running[e.Bucket] += e.Amount
				}
			}
		}
		for k, n := range running {
			if s, _ := table.holds.Get(o).sum(k); n > s.plus {
				t.Errorf("%s runs calls for %d of %s and holds %d (I26)", o, n, k, s.plus)
			}
		}
	}
	for _, k := range table.Buckets() {
		for _, s := range table.Shares(k) {
			plus[k] += s.Plus
			minus[k] += s.Minus
		}
		if l := table.Level(k); l.Plus != plus[k] || l.Minus != minus[k] || l.Low > l.High || l.Inf > l.Sup {
			t.Errorf("%+v, and the holds come to %d and %d (I7)", l, plus[k], minus[k])
		}
	}
	if extra := slices.Collect(maps.Keys(plus)); len(extra) > len(table.Buckets()) {
		t.Errorf("holds on %v", extra)
	}
}
