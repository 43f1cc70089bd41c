// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// busy is a table in which everything is in some use.
func busy(t *testing.T) *bench {
	b := newBench(t, 20, 5)
	b.ok(b.SetFloor("a", At(-3)))
	b.reserve("P", false, change("1", -2), change("2", 3, "1"), change("3", 1))
	b.reserve("B", true, change("", -1))
	b.reserve("C", true, Call{ID: "x", Effects: Collect(Effect{"a", 1}, Effect{"b", -2})})
	b.ok(b.Draw("P", "3", Effects{{"a", 1}}))
	b.run("P", "3")
	b.run("B", "")
	b.run("C", "x")
	b.observe(6, 4, true)
	b.end("C", "x", Tainted)
	b.end("B", "", Uncertain)
	return b
}

func TestSnapshotIsAllOfIt(t *testing.T) {
	t.Parallel()
	b := busy(t)
	data, err := json.Marshal(b.Table)
	if err != nil {
		t.Fatal(err)
	}
	back := NewTable()
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("%s\n%s: %v", data, again, err)
	}
	if !bytes.Equal(b.AppendCanonical(nil, nil), back.AppendCanonical(nil, nil)) || b.Level("a") != back.Level("a") {
		t.Errorf("%+v, %+v", b.Level("a"), back.Level("a"))
	}
	verify(t, back)
}

func TestSnapshotRefusesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(busy(t).Table)
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string][2]string{
		"new field":    {`"buckets":`, `"new":1,"buckets":`},
		"no owner":     {`"owner":"B"`, `"owner":""`},
		"twice":        {`"owner":"B"`, `"owner":"P"`},
		"unknown call": {`"after":["1"]`, `"after":["9"]`},
		"itself":       {`"after":["1"]`, `"after":["2"]`},
		"no amount":    {`"amount":-2`, `"amount":0`},
		"interval":     {`"high":7`, `"high":-7`},
		"lost early":   {`"started":`, `"Started":0,"started_":`},
		"same bucket":  {`"key":"b"`, `"key":"a"`},
		"cut":          {`]}`, ``},
	} {
		bad := strings.Replace(string(data), x[0], x[1], 1)
		table := busy(t).Table
		before := table.AppendCanonical(nil, nil)
		if bad == string(data) {
			t.Errorf("%s: nothing replaced in %s", what, data)
		}
		if err := json.Unmarshal([]byte(bad), table); err == nil {
			t.Errorf("%s was read", what)
		}
		if !bytes.Equal(before, table.AppendCanonical(nil, nil)) {
			t.Errorf("%s changed the table", what)
		}
	}
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	b := busy(t)
	before := b.AppendCanonical(nil, nil)
	c := &bench{Table: b.Clone(), t: t, index: b.index}
	c.ok(c.Settle("P", "3", Succeeded, b.index-1)) // one record with an earlier end
	c.end("B", "", Succeeded)
	c.Release("P")
	c.observe(9, c.index, true)
	c.ok(c.SetLimit("a", Bound{}))
	if !bytes.Equal(before, b.AppendCanonical(nil, nil)) {
		t.Error("the original changed")
	}
	verify(t, b.Table)
}

// TestCanonicalKeepsApart: each single difference shows.
func TestCanonicalKeepsApart(t *testing.T) {
	t.Parallel()
	base := busy(t).AppendCanonical(nil, nil)
	for what, do := range map[string]func(b *bench) error{
		"limit":   func(b *bench) error { return b.SetLimit("a", At(21)) },
		"floor":   func(b *bench) error { return b.SetFloor("a", Bound{}) },
		"claimed": func(b *bench) error { return b.Commit("P", "2") },
		"started": func(b *bench) error { return errors.Join(b.Commit("P", "1"), b.Start("P", "1", 77)) },
		"effect":  func(b *bench) error { return b.Extend("P", "2", Effects{{"a", 2}}) },
		"settled": func(b *bench) error { return b.Settle("P", "3", Succeeded, 78) },
		"memory":  func(b *bench) error { _, err := b.Observe("b", Observation{Use: 0, Began: 1, At: 99}); return err },
	} {
		b := busy(t)
		b.ok(do(b))
		if bytes.Equal(base, b.AppendCanonical(nil, nil)) {
			t.Errorf("%s does not show", what)
		}
	}
	// Indexes that differ but stand in the same order give one coarse form.
	coarse := func(b *bench) []byte { return b.AppendCanonical(nil, func(uint64) uint64 { return 0 }) }
	b := busy(t)
	b.index += 5
	if !bytes.Equal(coarse(b), coarse(busy(t))) || len(b.Indexes()) == 0 {
		t.Error("the coarse form depends on indexes")
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, 0)
	long := make(Order, MaxCalls+1)
	for what, o := range map[string]Order{
		"nothing": {}, "too long": long,
		"twice":    {change("1", 1), change("1", 1)},
		"unsorted": {change("2", 1), change("1", 1)},
		"cycle":    {change("1", 1, "2"), change("2", 1, "1")},
		"stranger": {change("1", 1, "0")},
		"zero":     One(Effects{{"a", 0}}),
		"nameless": One(Effects{{"", 1}}),
		"huge":     One(Effects{{"a", MaxAmount + 1}}),
		"repeated": One(Effects{{"a", 1}, {"a", 1}}),
	} {
		b.fails(ErrMalformed, func() error {
			if err := b.Reserve("A", o, true); err != nil {
				return err
			}
			t.Errorf("%s was reserved", what)
			return nil
		})
	}
	b.fails(ErrMalformed, func() error { return b.SetLimit("a", At(MaxAmount+1)) })
	b.fails(ErrMalformed, func() error { return b.SetFloor("", At(0)) })
	b.fails(ErrMalformed, func() error { _, err := b.Observe("", Observation{Use: 1, Began: 1, At: 2}); return err })
	b.fails(ErrMalformed, func() error { _, err := b.Observe("a", Observation{Use: MaxAmount + 1, Began: 1, At: 2}); return err })
	b.fails(ErrOwner, func() error { return b.Reserve("", One(nil), true) })
	if b.Holds("A") {
		t.Error("who was refused holds something")
	}
	if b.ok(b.Reserve("A", One(Effects{{"a", 1}}), true)); !b.Holds("A") {
		t.Error("who reserved holds nothing")
	}
	if !b.Admits(nil) || b.Hopeless(nil) {
		t.Error("nothing asked")
	}
}

// TestStartBeforeAnObservation: a call that an observation may have seen already
// lowers nothing from its start on, as it does in a table that is read anew.
func TestStartBeforeAnObservation(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, 5)
	b.ok(b.Reserve("P", Order{change("1", -1), change("2", 1, "1")}, true))
	if _, err := b.Observe("a", Observation{Use: 4, Began: 8, At: 9}); err != nil {
		t.Fatal(err)
	}
	before := b.Level("a").Plus
	b.ok(b.Start("P", "1", 7)) // it began before the read did
	if l := b.Level("a"); before != 0 || l.Plus != 1 {
		t.Errorf("+%d before the start, %+v after it", before, l)
	}
	data, err := json.Marshal(b.Table)
	if err != nil {
		t.Fatal(err)
	}
	back := NewTable()
	if err := json.Unmarshal(data, back); err != nil || back.Level("a") != b.Level("a") {
		t.Errorf("%+v, read anew %+v: %v", b.Level("a"), back.Level("a"), err)
	}
}
