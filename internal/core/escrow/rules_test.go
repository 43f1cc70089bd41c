// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bench is a table with one bucket and what a test does to it; every step must
// succeed.
type bench struct {
	*Table
	t     *testing.T
	index uint64
}

func newBench(t *testing.T, limit, use int64) *bench {
	b := &bench{Table: NewTable(), t: t, index: 1}
	b.ok(b.SetLimit("a", At(limit)))
	b.observe(use, 1, true)
	return b
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	verify(b.t, b.Table)
}

// fails checks that an error is of a kind, and that nothing has changed.
func (b *bench) fails(want error, do func() error) {
	b.t.Helper()
	before := b.AppendCanonical(nil, nil)
	if err := do(); !errors.Is(err, want) {
		b.t.Fatalf("error %v, want %v", err, want)
	}
	if diff := cmp.Diff(before, b.AppendCanonical(nil, nil)); diff != "" {
		b.t.Fatalf("a failure changed the table: %s", diff)
	}
}

func (b *bench) reserve(o Owner, claimed bool, calls ...Call) {
	b.t.Helper()
	order, err := Arrange(calls...)
	b.ok(err)
	b.ok(b.Reserve(o, order, claimed))
}

func (b *bench) run(o Owner, id CallID) {
	b.t.Helper()
	b.index++
	b.ok(b.Start(o, id, b.index))
}

func (b *bench) end(o Owner, id CallID, out Outcome) {
	b.t.Helper()
	b.index++
	b.ok(b.Settle(o, id, out, b.index))
}

func (b *bench) observe(use int64, began uint64, want bool) {
	b.t.Helper()
	b.index++
	taken, err := b.Observe("a", Observation{Use: use, Began: began, At: b.index})
	b.ok(err)
	if taken != want {
		b.t.Fatalf("observation taken: %t, want %t", taken, want)
	}
}

// bounds checks sup and inf, and with them confirmed use.
func (b *bench) bounds(sup, inf int64) {
	b.t.Helper()
	if l := b.Level("a"); l.Sup != sup || l.Inf != inf {
		b.t.Fatalf("sup %d, inf %d, want %d, %d: %+v", l.Sup, l.Inf, sup, inf, l)
	}
}

// want is the demand of one call on the bucket.
func want(n int64) Demand { return One(Effects{{"a", n}}).Demand() }

// TestOutcomes: what each outcome makes of a running call.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		amount   int64
		out      Outcome
		sup, inf int64
	}{
		{2, Succeeded, 7, 7},
		{2, Tainted, 7, 7},
		{2, Unclear, 7, 5},
		{2, Refused, 5, 5},
		{2, Uncertain, 7, 5},
		{-2, Succeeded, 3, 3},
		{-2, Tainted, 5, 3}, // whether it freed anything is unknown
		{-2, Unclear, 5, 3},
		{-2, Refused, 5, 5},
		{-2, Uncertain, 5, 3},
	} {
		t.Run(fmt.Sprint(x.amount, x.out), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 10, 5)
			b.index = 4
			b.reserve("A", true, change("", x.amount))
			b.run("A", "")
			b.bounds(5+max(x.amount, 0), 5+min(x.amount, 0))
			b.end("A", "", x.out)
			b.bounds(x.sup, x.inf)
			if kept := len(b.Calls("A")) == 1; kept != (x.out == Uncertain) {
				t.Errorf("the call is kept: %t", kept)
			}
		})
	}
}

// TestI4AllBucketsOrNone: one bucket that is full keeps all others untouched.
func TestI4AllBucketsOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, 2)
	o := One(Collect(Effect{"b", 1}, Effect{"a", 1}))
	b.fails(ErrCapacity, func() error { return b.Reserve("A", o, true) })
	short := b.Shortfalls(o.Demand())
	if len(short) != 1 || short[0].Bucket != "a" || !short[0].Hopeless || short[0].Asked.Plus != 1 || short[0].High != 2 {
		t.Errorf("shortfalls: %+v", short)
	}
	last := One(Collect(Effect{"0", 1}, Effect{"a", 1}))
	b.fails(ErrCapacity, func() error { return b.Reserve("A", last, true) })
	if !b.Hopeless(last.Demand()) {
		t.Error("the last bucket counts as well")
	}
	b.ok(b.SetLimit("a", At(3)))
	b.ok(b.Reserve("A", o, true))
	if l := b.Level("b"); l.Plus != 1 || l.Known {
		t.Errorf("a bucket that is only watched: %+v", l)
	}
	b.fails(ErrOwner, func() error { return b.Reserve("A", o, true) })
}

// TestI5EscrowSup: nothing that is admitted brings sup above the limit; a
// lowered limit does, is flagged, stops what consumes, and takes nothing back.
func TestI5EscrowSup(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, 2)
	b.reserve("A", true, change("", 3))
	b.bounds(5, 2)
	b.fails(ErrCapacity, func() error { return b.Reserve("B", One(Effects{{"a", 1}}), true) })
	b.ok(b.SetLimit("a", At(3)))
	if !b.Level("a").Overcommitted {
		t.Error("not flagged")
	}
	if b.Admits(want(1)) || !b.Admits(want(-1)) {
		t.Error("an overcommitted bucket must only be emptied")
	}
	b.run("A", "")
	b.end("A", "", Succeeded)
	b.bounds(5, 5)
}

// TestI6EscrowInf: with a floor, frees have to fit as well; without one they
// always do.
func TestI6EscrowInf(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, 2)
	if !b.Admits(want(-9)) {
		t.Error("a quota has no floor")
	}
	b.ok(b.SetFloor("a", At(0)))
	b.reserve("A", true, change("", -1))
	b.reserve("P", false, change("", -1)) // declared frees count here
	b.bounds(2, 1)
	if b.Admits(want(-1)) || b.Hopeless(want(-1)) || !b.Hopeless(want(-3)) {
		t.Error("a free below the floor")
	}
	b.fails(ErrCapacity, func() error { return b.Reserve("B", One(Effects{{"a", -1}}), true) })
	b.fails(ErrExceeded, func() error { return b.Draw("P", "", Effects{{"a", -2}}) })
}

// TestI7Sums: R and F are the sums of the holds, and follow every change.
func TestI7Sums(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20, 5)
	b.reserve("A", true, change("1", -1), change("2", 3, "1"))
	b.reserve("B", true, change("", 4))
	b.reserve("C", false, change("1", -2), change("2", 2))
	got := b.Shares("a")
	if diff := cmp.Diff([]Share{{"A", 2, 1, false}, {"B", 4, 0, false}, {"C", 2, 0, false}}, got); diff != "" {
		t.Error(diff)
	}
	if l := b.Level("a"); l.Plus != 8 || l.Minus != 1 {
		t.Errorf("%+v", l)
	}
	for _, o := range b.Owners() {
		b.Release(o)
	}
	if l := b.Level("a"); l.Plus != 0 || l.Minus != 0 || b.Owners() != nil {
		t.Errorf("after release: %+v", l)
	}
}

// TestI23OwnFreesKept: a free confirmed inside a claim is for the calls of the
// claim that need it, and the rest of it for everybody. It stays so when a read
// may have counted the free already.
func TestI23OwnFreesKept(t *testing.T) {
	t.Parallel()
	for _, claimed := range []bool{true, false} {
		b := newBench(t, 5, 5)
		b.reserve("A", claimed, change("1", -3), change("2", 1, "1"))
		b.ok(b.Commit("A", "1", "2"))
		if b.Admits(want(1)) {
			t.Fatal("an unconfirmed free was spent")
		}
		b.run("A", "1")
		b.end("A", "1", Succeeded)
		b.bounds(3, 2)
		if !b.Admits(want(2)) || b.Admits(want(3)) {
			t.Error("what the create needs must be kept, and nothing else")
		}
	}
	b := newBench(t, 5, 5)
	b.index = 10
	b.reserve("A", true, change("1", -1), change("2", 1, "1"))
	b.run("A", "1")
	b.observe(4, 9, true) // the delete has landed, unknown to us
	if b.Admits(want(1)) {
		t.Error("the unit that A's create needs was given away")
	}
	b.end("A", "1", Succeeded)
	b.bounds(5, 3)
}

// TestI24ObservationOrder: what was under way since the read began is counted
// so that both bounds hold, and an older read changes nothing.
func TestI24ObservationOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, 5)
	b.index = 10
	b.reserve("A", true, change("", 2))
	b.reserve("B", true, change("", -1))
	b.run("A", "")
	b.run("B", "")
	b.observe(6, 10, true) // 5+2-1, or others' doing: nobody knows
	b.bounds(8, 5)
	b.end("A", "", Succeeded)
	b.bounds(8, 5)
	b.end("B", "", Succeeded)
	b.bounds(8, 5)
	b.observe(9, 9, false)
	b.bounds(8, 5)
	b.observe(6, 14, true) // began between the two ends: A counts, B may
	b.bounds(6, 5)
	b.observe(6, b.index, true)
	b.bounds(6, 6)
	b.fails(ErrMalformed, func() error { _, err := b.Observe("a", Observation{Began: 2, At: 1}); return err })
}

// TestObservationOfCreateFirst: the read may have counted the new object, whose
// predecessor will still go.
func TestObservationOfCreateFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, 5)
	b.reserve("A", true, change("1", 1), change("2", -1, "1"))
	b.run("A", "1")
	b.observe(6, b.index, true)
	b.bounds(7, 5)
	b.end("A", "1", Succeeded)
	b.bounds(7, 5)
}

// TestObservationWithUnstartedCalls: what starts later is in no read.
func TestObservationWithUnstartedCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, 5)
	b.reserve("A", true, change("", 2))
	b.observe(4, b.index, true)
	b.run("A", "")
	b.end("A", "", Succeeded)
	b.bounds(6, 6)
}

// TestMemoryIsBounded: a read that began before what is remembered is ignored,
// since what ended since cannot be added any more.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10*history, 0)
	began := b.index
	for range history + 1 {
		b.reserve("A", true, change("", 1))
		b.run("A", "")
		b.end("A", "", Succeeded)
	}
	b.observe(0, began, false)
	b.bounds(history+1, history+1)
	b.observe(1, began+2, true)
	b.bounds(history+1, 1)
}

// TestI25NoEffectAfterSettle: a call is settled once, whatever is said later,
// and those after a failed one are gone.
func TestI25NoEffectAfterSettle(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, 5)
	b.reserve("A", true, change("1", 1), change("2", 2, "1"), change("3", 1))
	b.fails(ErrState, func() error { return b.Settle("A", "1", Succeeded, 9) })
	b.fails(ErrState, func() error { return b.Start("A", "2", 9) })
	b.run("A", "1")
	b.fails(ErrState, func() error { return b.Start("A", "1", 9) })
	b.end("A", "1", Uncertain)
	b.end("A", "1", Uncertain)
	b.bounds(9, 5)
	b.end("A", "1", Tainted)
	b.bounds(7, 6)
	for _, id := range []CallID{"1", "2"} {
		b.fails(ErrCall, func() error { return b.Settle("A", id, Succeeded, 99) })
		b.fails(ErrCall, func() error { return b.Start("A", id, 99) })
	}
	b.run("A", "3")
	b.end("A", "3", Refused)
	b.fails(ErrOwner, func() error { return b.Settle("A", "3", Succeeded, 99) })
	b.bounds(6, 6)
}

// TestI26DrawWithinReservation: calls draw from what is reserved for the plan
// and never more; what they do not need returns; the end of the owner returns
// the undrawn rest and no more.
func TestI26DrawWithinReservation(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, 4)
	b.reserve("P", false, change("1", 3), change("2", 2), change("3", -1))
	b.bounds(9, 4)
	b.fails(ErrState, func() error { return b.Start("P", "1", 9) })
	b.fails(ErrExceeded, func() error { return b.Draw("P", "1", Effects{{"a", 4}}) })
	b.fails(ErrExceeded, func() error { return b.Draw("P", "1", Effects{{"b", 1}}) })
	b.ok(b.Draw("P", "1", Effects{{"a", 2}}))
	b.bounds(8, 4)
	b.fails(ErrCapacity, func() error { return b.Extend("P", "2", Effects{{"a", 5}}) })
	b.ok(b.Extend("P", "2", Effects{{"a", 4}}))
	b.bounds(10, 4)
	b.ok(b.Draw("P", "3", Effects{{"a", -1}}))
	b.bounds(10, 3)
	b.run("P", "1")
	if !b.Release("P") || b.Release("P") {
		t.Error("release")
	}
	b.bounds(6, 4)
	b.fails(ErrState, func() error { return b.Draw("P", "1", nil) })
}

// TestHopeless: frees of running calls and of active claims give hope, merely
// declared ones do not, and those of uncertain calls only for a while.
func TestHopeless(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, 5)
	if !b.Hopeless(want(1)) || b.Hopeless(want(-1)) {
		t.Error("nothing is in flight")
	}
	b.reserve("P", false, change("1", -1), change("2", -1))
	if !b.Hopeless(want(1)) {
		t.Error("a declared free gave hope")
	}
	b.ok(b.Commit("P", "1"))
	if b.Hopeless(want(1)) || !b.Hopeless(want(2)) || b.OnlyUncertain(want(1)) {
		t.Error("a claimed free gives hope for one")
	}
	b.run("P", "1")
	b.end("P", "1", Uncertain)
	if b.Hopeless(want(1)) || !b.OnlyUncertain(want(1)) || b.OnlyUncertain(want(2)) {
		t.Error("only an uncertain call can free it")
	}
	b.end("P", "1", Refused)
	if !b.Hopeless(want(1)) {
		t.Error("the only hope is gone")
	}
	b.fails(ErrBusy, func() error { return b.Forget("a") })
	b.Release("P")
	b.ok(b.Forget("a"))
	if b.Buckets() != nil || !b.Admits(want(100)) || b.Hopeless(want(100)) {
		t.Error("an unknown bucket stops nobody")
	}
}
