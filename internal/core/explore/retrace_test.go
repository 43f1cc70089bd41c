// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"slices"
	"testing"
)

// TestRetrace: what is printed of a finding is enough to make it again, for
// configurations of every kind.
func TestRetrace(t *testing.T) {
	t.Parallel()
	list := []*Config{Scenarios()[1], crossingRuns(), runsOf(6)}
	for c := range Networks(3, 25214) {
		list = append(list, c)
		break
	}
	for _, c := range list {
		s := newSearch()
		if _, err := s.explore(c, Limit{Worlds: 2_000}, newCoverage(1), 64); err != nil {
			t.Fatal(err)
		}
		f := &Finding{Config: c, Cause: broken("none", "the last world of a search"), History: s.way(busiest(s))}
		got, err := Parse("some words before\n" + f.Error() + "and after\n")
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if got.Config.Name != c.Name || !slices.Equal(got.History, f.History) {
			t.Errorf("%s: read back as %s with %v", c.Name, got.Config.Name, got.History)
		}
		if again := got.Again(); again != nil {
			t.Errorf("%s breaks %v", c.Name, again)
		}
	}
}

// TestRetraceFinds: a history that breaks something breaks it again.
func TestRetraceFinds(t *testing.T) {
	t.Parallel()
	f := find(t, withHole())
	again := (&Finding{Config: f.Config, History: f.History}).Again()
	if again == nil || !f.same(again.Cause.(*Violation)) {
		t.Errorf("%v became %v", f.Cause, again)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "no: configuration", "nobody: there map[]\n  plan 0\n", "paper: there map[]\n\n  plan 0\n", "paper: there map[]\n  dance 0\n",
		"paper: there map[]\n  plan 99\n", "paper: there map[]\n  plan\n", "network/9/1 x: there map[]\n  plan 0\n", "network/2/0 x: there map[]\n  plan 0\n",
	} {
		if f, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, f.History)
		}
	}
}
