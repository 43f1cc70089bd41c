// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAtTheEdges: the largest and smallest of everything that is allowed, and the
// next that is not.
func TestAtTheEdges(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int64]bool{MaxAmount: true, -MaxAmount: true, MaxAmount + 1: false, -MaxAmount - 1: false} {
		table := NewTable()
		_, seen := table.Observe("a", Observation{Use: n, Began: 1, At: 1})
		effect := Effects{{"a", n}}.Validate()
		for _, err := range []error{table.SetLimit("a", At(n)), table.SetFloor("a", At(n)), seen, effect} {
			if ok != (err == nil) || err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
	o := make(Order, MaxCalls)
	for i := range o {
		o[i] = Call{ID: CallID(fmt.Sprintf("%06d", i)), Effects: Effects{{"a", 1}}}
	}
	if err := o.Validate(); err != nil {
		t.Errorf("an order of %d calls: %v", len(o), err)
	}
	for _, b := range []bucket{{plus: most - 1}, {dip: most - 1}} {
		plus, minus := min(b.plus, 1), min(b.dip, 1)
		if !b.admits(plus, minus) || b.admits(2*plus, 2*minus) {
			t.Errorf("%+v overflows, or is full too early", b)
		}
	}
	b := newBench(t, 5, 0)
	b.reserve("A", true, change("", 5))
	if b.Level("a").Overcommitted || b.Level("a").Sup != 5 {
		t.Errorf("up to the limit: %+v", b.Level("a"))
	}
	b.ok(b.SetLimit("a", At(4)))
	if !b.Level("a").Overcommitted {
		t.Errorf("above the limit: %+v", b.Level("a"))
	}
}

// TestIndexesMeet: what is started in the record of an observation may be in it;
// what landed in one record lands together; what a later observation has seen is
// not unseen by one that was taken over earlier; and nothing ends before it began.
func TestIndexesMeet(t *testing.T) {
	t.Parallel()
	b := bucket{known: true, at: 5}
	for started, want := range map[uint64]bool{0: false, 4: true, 5: true, 6: false} {
		if b.ambiguous(started) != want {
			t.Errorf("started at %d, observed at 5", started)
		}
	}
	b = bucket{}
	b.land(3, true, 7)
	b.land(-2, true, 7)
	b.land(-4, true, 7)
	b.observe(Observation{Use: 10, Began: 6, At: 8})
	if b.low != 4 || b.high != 13 || len(b.ended) != 1 {
		t.Errorf("%+v", b)
	}
	b.observe(Observation{Use: 10, Began: 7, At: 7})
	if b.at != 8 || b.low != 10 || b.high != 10 {
		t.Errorf("%+v", b)
	}
	bench := newBench(t, 9, 0)
	bench.reserve("A", true, change("", 1))
	bench.fails(ErrState, func() error { return bench.Start("A", "", 0) })
	bench.ok(bench.Start("A", "", 20))
	bench.fails(ErrState, func() error { return bench.Settle("A", "", Succeeded, 19) })
	bench.ok(bench.Settle("A", "", Succeeded, 20))
}

// TestEveryIndexIsNamed: all indexes that a table decides by are told.
func TestEveryIndexIsNamed(t *testing.T) {
	t.Parallel()
	table := NewTable()
	table.buckets.Set(&table.owner, "a", bucket{known: true, began: 11, at: 12, horizon: 13, ended: []landing{{Index: 14}, {Index: 15}}})
	h := newHold([]Held{{Call: change("", 1), Claimed: true, Started: 16}})
	table.replace("A", h)
	list := table.Indexes()
	for i := uint64(11); i <= 16; i++ {
		if !slices.Contains(list, i) {
			t.Errorf("%d is not among %v", i, list)
		}
	}
}

// TestHopeAtAFloor: what a floor waits for is measured from the least that may be
// in use, and what a limit waits for from the most.
func TestHopeAtAFloor(t *testing.T) {
	t.Parallel()
	b := bucket{known: true, low: 3, high: 7, floor: At(2), limit: At(9), plus: 1, minus: 1}
	for asked, want := range map[int64]bool{2: false, 3: true} {
		if b.stuck(0, asked) != want || b.stuck(asked+1, 0) != want {
			t.Errorf("%d of %+v: stuck %t and %t", asked, b, b.stuck(0, asked), b.stuck(asked+1, 0))
		}
	}
	table := NewTable()
	table.buckets.Set(&table.owner, "a", bucket{known: true, low: 3, high: 9, limit: At(9)})
	if f := table.Shortfalls(want(1)); len(f) != 1 || !f[0].Hopeless || table.Hopeless(want(1)) {
		t.Errorf("only a reading could tell: %+v", f)
	}
}

// TestHeaviestWithout: what is absent ties nobody to anything, compared with
// enumeration.
func TestHeaviestWithout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "items")
		weight, absent, before := make([]int64, n), make([]bool, n), make([][]int, n)
		free := make([][]int, n) // the order among those that are there
		for i := range n {
			if absent[i] = rapid.IntRange(0, 3).Draw(t, "absent") == 0; !absent[i] {
				weight[i] = rapid.Int64Range(-5, 5).Draw(t, "weight")
			}
			for p := range i {
				if rapid.IntRange(0, 2).Draw(t, "after") == 0 {
					before[i] = append(before[i], p)
					if !absent[i] && !absent[p] {
						free[i] = append(free[i], p)
					}
				}
			}
		}
		if got, want := heaviest(weight, before, absent), bruteForce(weight, free); got != want {
			t.Fatalf("%v before %v absent %v: %d, want %d", weight, before, absent, got, want)
		}
	})
}

// TestFailureReachesTheLast: without a call there is none behind it, however far
// behind and whatever their names.
func TestFailureReachesTheLast(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9, 0)
	b.reserve("A", true, change("d", 1), change("c", 1, "d"), change("b", 1, "c"), change("a", 1, "b"), change("e", 1))
	b.ok(b.Settle("A", "d", Refused, 9))
	if calls := b.Calls("A"); len(calls) != 1 || calls[0].ID != "e" {
		t.Errorf("%v", calls)
	}
	if l := b.Level("a"); l.Plus != 1 {
		t.Errorf("%+v", l)
	}
}

// TestArrangedOnce: a call may say twice what it comes after, and in any order.
func TestArrangedOnce(t *testing.T) {
	t.Parallel()
	o, err := Arrange(change("c", 1, "b", "a", "b", "gone"), change("b", 1), change("a", 1))
	if err != nil || len(o[2].After) != 2 || o[2].After[0] != "a" {
		t.Errorf("%v: %v", o, err)
	}
}

// TestContention: two that give back do not contend, and neither do one that takes
// and one that gives.
func TestContention(t *testing.T) {
	t.Parallel()
	take, give := want(1), want(-1)
	for _, c := range []struct {
		a, b Demand
		want bool
	}{{take, take, true}, {take, give, false}, {give, take, false}, {give, give, false}, {nil, take, false}} {
		if k, found := c.a.Contends(c.b); found != c.want || found && k != "a" {
			t.Errorf("%v and %v: %t over %q", c.a, c.b, found, k)
		}
	}
}

// TestDoubt: what may be in an observation already is what running calls add, never
// more than is held, and no free makes it less.
func TestDoubt(t *testing.T) {
	t.Parallel()
	b := newBench(t, 99, 20)
	b.reserve("A", true, change("", 5))
	b.reserve("B", true, change("", -3))
	b.reserve("C", true, change("x", -4), change("y", 6, "x"))
	b.run("A", "")
	b.run("B", "")
	b.run("C", "x")
	b.observe(21, b.index, true)
	if l := b.Level("a"); l.Doubt != 5 {
		t.Errorf("%+v", l)
	}
	table := NewTable()
	table.buckets.Set(&table.owner, "a", bucket{known: true, at: 9})
	calls := []Held{{Call: change("x", 5), Claimed: true, Started: 3}, {Call: change("y", -4), Claimed: true}}
	h := newHold(calls)
	table.replace("A", h)
	k := bucket{known: true, at: 9, plus: 2}
	if got := table.doubt("a", &k); got != 2 {
		t.Errorf("%d of the 2 that are held", got)
	}
}

// TestCommitAll: all that a claim names may be hoped for, not only the first.
func TestCommitAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9, 5)
	b.reserve("P", false, change("1", -2), change("2", -1), change("3", -1))
	b.ok(b.Commit("P", "1", "2"))
	for _, c := range b.Calls("P") {
		if c.Claimed != (c.ID != "3") {
			t.Errorf("%+v", c)
		}
	}
	if l := b.Level("a"); l.Minus != 3 {
		t.Errorf("%+v", l)
	}
	b.fails(ErrCall, func() error { return b.Commit("P", "3", "4") })
}

// TestDrawAtAFloor: a call that frees just what was reserved for it frees no more
// than the floor was told of, and one that frees more does.
func TestDrawAtAFloor(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]error{-1: nil, -2: nil, -3: ErrExceeded} {
		b := newBench(t, 9, 5)
		b.ok(b.SetFloor("a", At(0)))
		b.reserve("P", false, change("1", -2))
		draw := func() error { return b.Draw("P", "1", Effects{{"a", n}}) }
		if want != nil {
			b.fails(want, draw)
		} else {
			b.ok(draw())
		}
	}
}

// TestSharesInDoubt: a share is uncertain where a call of it on that bucket is,
// whether it takes or gives.
func TestSharesInDoubt(t *testing.T) {
	t.Parallel()
	for n, k := range map[int64]Key{2: "a", -2: "a", 3: "b"} {
		b := newBench(t, 9, 5)
		b.reserve("A", true, Call{ID: "1", Effects: Effects{{k, n}}}, Call{ID: "2", Effects: Effects{{"a", 1}}})
		b.run("A", "1")
		b.end("A", "1", Uncertain)
		if s := b.Shares("a"); len(s) != 1 || s[0].Uncertain != (k == "a") {
			t.Errorf("%d of %s: %+v", n, k, s)
		}
	}
}

// TestDamagedBuckets: each part of a bucket or hold that no table can have is
// refused by itself.
func TestDamagedBuckets(t *testing.T) {
	t.Parallel()
	const whole = `{"buckets":[{"key":"a","limit":{"set":true,"value":9},"floor":{"set":true,"value":0},"known":true,` +
		`"low":1,"high":2,"began":3,"at":4,"ended":[{"index":5,"plus":1},{"index":6,"plus":1}]}],` +
		`"holds":[{"owner":"A","calls":[{"id":"1","effects":[{"bucket":"a","amount":1}],"claimed":true,"started":7},` +
		`{"id":"2","effects":[{"bucket":"a","amount":1}],"after":["1"]}]}]}`
	if err := json.Unmarshal([]byte(whole), NewTable()); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][2]string{
		{`"limit":{"set":true,"value":9}`, `"limit":{"set":false,"value":9}`},
		{`"limit":{"set":true,"value":9}`, `"limit":{"set":true,"value":1099511627777}`},
		{`"floor":{"set":true,"value":0}`, `"floor":{"set":false,"value":1}`},
		{`"low":1`, `"low":3`},
		{`"began":3`, `"began":5`},
		{`"index":6`, `"index":4`},
		{`"key":"a"`, `"key":""`},
		{`"claimed":true,"started":7`, `"started":7`},
		{`"after":["1"]`, `"after":["1"],"claimed":true,"started":8`},
		{`"after":["1"]`, `"after":["1"],"uncertain":true`},
	} {
		damaged := strings.Replace(whole, x[0], x[1], 1)
		if err := json.Unmarshal([]byte(damaged), NewTable()); damaged == whole || !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", x[1], err)
		}
	}
}
