// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// subsets calls f with every down-closed subset, by enumeration: item i may be
// in only if all items before it are.
func subsets(before [][]int, f func(in []bool)) {
	n := len(before)
	for mask := range 1 << n {
		in := make([]bool, n)
		for i := range n {
			in[i] = mask>>i&1 == 1
		}
		closed := true
		for i := range n {
			for _, p := range before[i] {
				closed = closed && (!in[i] || in[p])
			}
		}
		if closed {
			f(in)
		}
	}
}

func bruteForce(weight []int64, before [][]int) int64 {
	var best int64
	subsets(before, func(in []bool) {
		var w int64
		for i, x := range weight {
			if in[i] {
				w += x
			}
		}
		best = max(best, w)
	})
	return best
}

// TestPeakIsTheMaximumOverSubsets compares the minimum cut with enumeration on
// random partial orders, in whatever order their calls are listed.
func TestPeakIsTheMaximumOverSubsets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "calls")
		place := rapid.Permutation(numbers(n)).Draw(t, "names")
		calls := make([]Call, n)
		for i := range n {
			c := Call{ID: name(place[i])}
			c.Effects = Collect(
				Effect{"a", rapid.Int64Range(-6, 6).Draw(t, "a")},
				Effect{"b", rapid.Int64Range(-1, 1).Draw(t, "b")},
			)
			for p := range i {
				if rapid.IntRange(0, 2).Draw(t, "after") == 0 {
					c.After = append(c.After, name(place[p]))
				}
			}
			calls[i] = c
		}
		o, err := Arrange(calls...)
		if err != nil {
			t.Fatal(err)
		}
		d := o.Demand()
		for _, k := range []Key{"a", "b"} {
			want := Amount{k, bruteForce(o.weights(k, 1), o.before()), bruteForce(o.weights(k, -1), o.before())}
			if got := (Amount{k, o.Peak(k), o.Trough(k)}); got != want || d.Find(k) != want {
				t.Fatalf("%v: peak and trough %v, demand %v, want %v", o, got, d.Find(k), want)
			}
		}
	})
}

func name(i int) CallID { return CallID(fmt.Sprintf("c%03d", i)) }

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestPeakOfLargeOrders: orders too large to enumerate, of which the answer is
// known otherwise.
func TestPeakOfLargeOrders(t *testing.T) {
	t.Parallel()
	const n = 600
	r := rand.New(rand.NewPCG(1, 2))
	var chain, pairs []Call
	var height, highest, net int64
	for i := range n {
		c := Call{ID: name(i), Effects: Collect(Effect{"a", r.Int64N(21) - 10})}
		if i > 0 {
			c.After = []CallID{name(i - 1)}
		}
		height += c.Effects.Amount("a")
		highest = max(highest, height)
		chain = append(chain, c)

		free, use := r.Int64N(9)+1, r.Int64N(9)+1
		pairs = append(pairs,
			Call{ID: name(i) + "/delete", Effects: Effects{{"a", -free}}},
			Call{ID: name(i) + "/create", Effects: Effects{{"a", use}}, After: []CallID{name(i) + "/delete"}})
		net += max(0, use-free)
	}
	for what, x := range map[string]struct {
		calls []Call
		want  int64
	}{"chain": {chain, highest}, "replaces": {pairs, net}} {
		o, err := Arrange(x.calls...)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Peak("a"); got != x.want {
			t.Errorf("%s: peak %d, want %d", what, got, x.want)
		}
	}
}

// TestPeaks of the shapes that Terraform's plans consist of.
func TestPeaks(t *testing.T) {
	t.Parallel()
	call := func(id CallID, n int64, after ...CallID) Call {
		return Call{ID: id, Effects: Collect(Effect{"a", n}), After: after}
	}
	for what, x := range map[string]struct {
		calls       []Call
		plus, minus int64
	}{
		"create":                      {[]Call{call("c", 3)}, 3, 0},
		"delete":                      {[]Call{call("d", -3)}, 0, 3},
		"delete first, larger":        {[]Call{call("d", -3), call("c", 5, "d")}, 2, 3},
		"delete first, smaller":       {[]Call{call("d", -5), call("c", 3, "d")}, 0, 5},
		"create first":                {[]Call{call("c", 5), call("d", -3, "c")}, 5, 0},
		"create first, smaller":       {[]Call{call("c", 3), call("d", -5, "c")}, 3, 2},
		"independent delete":          {[]Call{call("c", 5), call("d", -3)}, 5, 3},
		"not along one listed order":  {[]Call{call("1", -2), call("2", 2, "1"), call("3", -2), call("4", 2, "3"), call("5", 1)}, 1, 4},
		"parent and child":            {[]Call{call("cd", -1), call("pd", -1, "cd"), call("pc", 1, "pd"), call("cc", 1, "pc")}, 0, 2},
		"a free that one of two uses": {[]Call{call("d", -4), call("x", 4, "d"), call("y", 4)}, 4, 4},
		"through a call without any":  {[]Call{call("d", -1), call("n", 0, "d"), call("c", 1, "n")}, 0, 1},
	} {
		o, err := Arrange(x.calls...)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if o.Peak("a") != x.plus || o.Trough("a") != x.minus {
			t.Errorf("%s: peak %d, trough %d, want %d, %d", what, o.Peak("a"), o.Trough("a"), x.plus, x.minus)
		}
	}
}
