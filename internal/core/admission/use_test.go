// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestWhatIsInUseAfterwards: what each end of a call says of a count that it adds
// to or takes from: the new number where that is known, else an interval that
// nothing which may have happened is outside of.
func TestWhatIsInUseAfterwards(t *testing.T) {
	t.Parallel()
	type ending struct {
		result Result // "" for an answer that was lost and a person's word
		exists bool
	}
	for _, c := range []struct {
		action    Action
		there     bool // before the call
		end       ending
		low, high int64 // in use afterwards; 5 before
	}{
		{Create, false, ending{Succeeded, true}, 6, 6},
		{Create, false, ending{Errored, false}, 5, 5},
		{Create, false, ending{Errored, true}, 6, 6},
		{Create, false, ending{"", true}, 6, 6},
		{Create, false, ending{"", false}, 5, 5},
		{Create, false, ending{NotSent, false}, 5, 5},
		{Create, true, ending{Succeeded, true}, 5, 6},
		{Update, true, ending{Succeeded, true}, 6, 6},
		{Update, true, ending{Errored, true}, 5, 6},
		{Update, true, ending{"", true}, 5, 6},
		{Delete, true, ending{Succeeded, false}, 4, 4},
		{Delete, true, ending{Errored, true}, 4, 5},
		{Delete, true, ending{Errored, false}, 4, 4},
		{Delete, true, ending{"", true}, 5, 5},
		{Delete, true, ending{"", false}, 4, 4},
		{Delete, true, ending{NotSent, true}, 5, 5},
		{Delete, false, ending{Succeeded, false}, 4, 5},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "a")
			m.submit("before", write("a", Create, "r/g/v"))
			m.finish("before", Succeeded, true)
			if !c.there {
				m.submit("gone", write("a", Delete, "r/g/v"))
				m.finish("gone", Succeeded, false)
			}
			m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(9), Use: escrow.At(5)}}})
			q := write("a", c.action, "r/g/v")
			q.Effects = escrow.Effects{{Bucket: "q", Amount: map[Action]int64{Create: 1, Update: 1, Delete: -1}[c.action]}}
			m.submit("t", q)
			if c.end.result != "" {
				m.finish("t", c.end.result, c.end.exists)
			} else {
				m.finish("t", Lost, false)
				m.must(Resolve{Stamp: m.tick(), Tx: "t", Actor: "ann", Reason: "looked", Exists: c.end.exists})
			}
			if l := m.Capacity().Level("q"); l.Low != c.low || l.High != c.high || l.Plus != 0 || l.Minus != 0 {
				t.Errorf("%d to %d in use, +%d -%d", l.Low, l.High, l.Plus, l.Minus)
			}
		})
	}
}

// TestReadingTimes: when a bucket was read last is when a reading was taken over;
// one that is older than what is known leaves it, and it goes with the bucket.
func TestReadingTimes(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("v", write("a", Create, "r/g/v"))
	m.finish("v", Succeeded, true)
	k := BucketOf("r/g/v", "ips")
	read := func(began uint64, use int64) int64 {
		at := m.tick()
		m.must(Measure{Stamp: at, Session: "a", Began: began, Readings: []Reading{{Bucket: k, Limit: escrow.At(9), Use: escrow.At(use)}}})
		return at.Now
	}
	late := m.Index()
	first := read(late, 2)
	if m.BucketRead(k) != first {
		t.Errorf("read at %d, not %d", m.BucketRead(k), first)
	}
	if read(late-1, 3); m.BucketRead(k) != first || m.Capacity().Level(k).High != 2 {
		t.Errorf("an older reading was taken over at %d", m.BucketRead(k))
	}
	if second := read(late, 4); m.BucketRead(k) != second || m.Capacity().Level(k).High != 4 {
		t.Errorf("a reading of the same moment was not taken over: %d", m.BucketRead(k))
	}
	m.submit("gone", write("a", Delete, "r/g/v"))
	m.finish("gone", Succeeded, false)
	if m.BucketRead(k) != 0 {
		t.Errorf("read at %d, of an object that is gone", m.BucketRead(k))
	}
}

// TestTakersAreNamed: where a count is all in use and nobody holds any of it, the
// sessions are named whose calls took it, the latest first: not the asking one, and
// none whose object has been given back since.
func TestTakersAreNamed(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b", "c", "d", "e", "f")
	take := func(session SessionID, path string) {
		q := write(session, Create, graph.NodeID("r/g/"+path))
		q.Effects = escrow.Effects{{Bucket: "q", Amount: 2}}
		m.submit(TxID(path), q)
		m.finish(TxID(path), Succeeded, true)
	}
	for _, x := range []string{"b", "c", "d", "e", "f", "e"} {
		take(SessionID(x), fmt.Sprintf("%s%d", x, m.Index()))
	}
	gone := TxID(fmt.Sprintf("f%d", m.Index()))
	take("f", string(gone))
	m.submit("back", write("f", Delete, graph.NodeID("r/g/"+string(gone))))
	m.finish("back", Succeeded, false)
	take("a", "own")
	m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(14), Use: escrow.At(14)}}})
	q := write("a", Create, "r/g/more")
	q.Effects = escrow.Effects{{Bucket: "q", Amount: 1}}
	m.submit("more", q)
	m.want("more", Rejected)
	var got []string
	for _, b := range m.Blockers("more") {
		got = append(got, fmt.Sprintf("%s %d", b.HolderSession, b.Capacity.Theirs))
	}
	if want := "[e 4 f 2 d 2]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
