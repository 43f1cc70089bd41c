// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestExtendChangesTheOrder: a call that is drawn although something before it
// has not ended takes what comes after it along, also in buckets that it does
// not touch itself.
func TestExtendChangesTheOrder(t *testing.T) {
	t.Parallel()
	table := NewTable()
	o, err := Arrange(
		Call{ID: "x", Effects: Effects{{"a", -2}}},
		Call{ID: "y", Effects: Effects{{"b", 1}}, After: []CallID{"x"}},
		Call{ID: "z", Effects: Effects{{"a", 3}}, After: []CallID{"y"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Reserve("A", o, false); err != nil {
		t.Fatal(err)
	}
	if got := table.Level("a").Plus; got != 1 {
		t.Errorf("in order it takes %d", got)
	}
	if err := table.Extend("A", "y", Effects{{"b", 1}}); err != nil {
		t.Fatal(err)
	}
	if got := table.Level("a").Plus; got != 3 {
		t.Errorf("out of order it takes %d", got)
	}
}

// TestSumsAreThoseOfTheCalls: whatever a hold has gone through, it comes to what
// its calls come to when they are measured from the beginning.
func TestSumsAreThoseOfTheCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := NewTable()
		for _, k := range []Key{"a", "b"} {
			if _, err := table.Observe(k, Observation{Use: 20}); err != nil {
				t.Fatal(err)
			}
		}
		if table.Reserve("A", anyOrder(t), rapid.Bool().Draw(t, "claimed")) != nil {
			return
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			calls := table.Calls("A")
			if len(calls) == 0 {
				return
			}
			id, index := calls[rapid.IntRange(0, len(calls)-1).Draw(t, "call")].ID, uint64(i+1)
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				_ = table.Extend("A", id, anyEffects(t))
			case 1:
				_ = table.Draw("A", id, anyEffects(t))
			case 2:
				_ = table.Start("A", id, index)
			case 3:
				_ = table.Settle("A", id, rapid.SampledFrom([]Outcome{Succeeded, Tainted, Unclear, Refused, Uncertain}).Draw(t, "outcome"), index)
			case 4:
				_ = table.Commit("A", id)
			default:
				_, _ = table.Observe("a", Observation{Use: 20, Began: index - 1, At: index})
			}
			again(t, table)
		}
	})
}

func anyEffects(t *rapid.T) Effects {
	var list []Effect
	for _, k := range []Key{"a", "b"} {
		list = append(list, Effect{k, int64(rapid.IntRange(-3, 3).Draw(t, "amount"))})
	}
	return Collect(list...)
}

func anyOrder(t *rapid.T) Order {
	var calls []Call
	for i := range rapid.IntRange(1, 6).Draw(t, "calls") {
		c := Call{ID: CallID(rune('p' + i)), Effects: anyEffects(t)}
		for _, o := range calls {
			if rapid.Bool().Draw(t, "after") {
				c.After = append(c.After, o.ID)
			}
		}
		calls = append(calls, c)
	}
	o, err := Arrange(calls...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// again compares a table with what is read from its snapshot.
func again(t *rapid.T, table *Table) {
	saved, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	back := NewTable()
	if err := json.Unmarshal(saved, back); err != nil {
		t.Fatal(err)
	}
	for _, k := range table.Buckets() {
		if d := cmp.Diff(back.Level(k), table.Level(k)); d != "" {
			t.Fatalf("%s is not what its holds come to:\n%s", k, d)
		}
	}
	for _, o := range table.Owners() {
		if d := cmp.Diff(back.Calls(o), table.Calls(o), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	}
}
