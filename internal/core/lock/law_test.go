// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"errors"
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// plans are all plans over a realm with two children, one of them with a child
// of its own.
func plans() []Plan {
	nodes := []graph.NodeID{"r", "r/a", "r/a/x", "r/b"}
	var list []Plan
	var build func(i int, wants []Want)
	build = func(i int, wants []Want) {
		if i == len(nodes) {
			list = append(list, Close(wants, parent))
			return
		}
		for _, m := range []mode.Mode{mode.NL, mode.IS, mode.S, mode.X} {
			build(i+1, append(slices.Clone(wants), Want{Node: nodes[i], Mode: m, Relation: Same, Rule: "all"}))
		}
	}
	build(0, nil)
	return list
}

// TestPlansAgree: the table, the demand and the direct comparison of two plans
// say the same about every pair of plans, and it is what the modes say.
func TestPlansAgree(t *testing.T) {
	t.Parallel()
	all := plans()
	for _, a := range all {
		table := NewTable()
		if err := table.Acquire("a", a); err != nil {
			t.Fatal(err)
		}
		demand := NewDemand(0)
		demand.Add(a)
		for _, b := range all {
			want := true
			for _, w := range b {
				want = want && mode.Compatible(a.Mode(w.Node), w.Mode)
			}
			mine, theirs, clash := b.Clash(a)
			if table.Free(b) != want || demand.Free(b) != want || clash == want || (len(table.Conflicts("b", b)) == 0) != want {
				t.Fatalf("%v and %v: free %t %t, clash %t, want %t", a, b, table.Free(b), demand.Free(b), clash, want)
			}
			if clash && (mine.Node != theirs.Node || mode.Compatible(mine.Mode, theirs.Mode)) {
				t.Fatalf("%v and %v clash over %v and %v", a, b, mine, theirs)
			}
			if got := table.Conflicts("a", b); got != nil {
				t.Fatalf("an owner conflicts with itself: %v", got)
			}
		}
	}
}

// TestWholeExcludesParts: whoever holds X on a node excludes every plan that
// touches anything below it, and S every plan that writes there. This is what
// the intentions are for.
func TestWholeExcludesParts(t *testing.T) {
	t.Parallel()
	for _, p := range plans() {
		below := mode.NL
		for _, n := range []graph.NodeID{"r/a", "r/a/x"} {
			below = mode.Sup(below, p.Mode(n))
		}
		for whole, excluded := range map[mode.Mode]bool{mode.X: below != mode.NL, mode.S: mode.Covers(below, mode.IX)} {
			table := NewTable()
			if err := table.Acquire("whole", Close([]Want{{Node: "r/a", Mode: whole}}, parent)); err != nil {
				t.Fatal(err)
			}
			// A lock on the realm itself may exclude it as well.
			if excluded && table.Free(p) {
				t.Fatalf("%s on r/a lets %v pass", whole, p)
			}
		}
	}
}

// TestValidateAcceptsWhatCloseMakes, and nothing with a part taken out.
func TestValidateAcceptsWhatCloseMakes(t *testing.T) {
	t.Parallel()
	for _, p := range plans() {
		if err := p.Validate(parent); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		for i, w := range p {
			needed := slices.ContainsFunc(p, func(o Want) bool {
				up, ok := parent(o.Node)
				return ok && up == w.Node
			})
			cut := slices.Delete(slices.Clone(p), i, i+1)
			if err := cut.Validate(parent); needed != errors.Is(err, ErrPlan) {
				t.Fatalf("%v without %s: %v", p, w.Node, err)
			}
		}
	}
	for name, p := range map[string]Plan{
		"nothing wanted": {{Node: "r", Mode: mode.NL}},
		"no such mode":   {{Node: "r", Mode: mode.X + 1}},
		"twice":          {{Node: "r", Mode: mode.S}, {Node: "r", Mode: mode.S}},
		"unsorted":       {{Node: "r/a", Mode: mode.S}, {Node: "r", Mode: mode.IS}},
		"weak intention": {{Node: "r", Mode: mode.IS}, {Node: "r/a", Mode: mode.X}},
	} {
		if err := p.Validate(parent); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCloseIgnoresTheOrder of the wants.
func TestCloseIgnoresTheOrder(t *testing.T) {
	t.Parallel()
	wants := []Want{
		{Node: "r/a", Mode: mode.S, Relation: Reference, Rule: "one"},
		{Node: "r/a", Mode: mode.S, Relation: Reference, Rule: "two"},
		{Node: "r/a", Mode: mode.IX, Relation: Rule},
		{Node: "r/a/x", Mode: mode.X, Relation: Same, Rule: "three", Class: "name"},
		{Node: "r/a/x", Mode: mode.X, Relation: Named, Rule: "three"},
	}
	want := Close(wants, parent)
	for range wants {
		wants = append(wants[1:], wants[0])
		for i := range wants {
			swapped := slices.Clone(wants)
			swapped[0], swapped[i] = swapped[i], swapped[0]
			if got := Close(swapped, parent); !slices.Equal(got, want) {
				t.Fatalf("%v gives\n%v, not\n%v", swapped, got, want)
			}
		}
	}
}

func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	table := NewTable()
	p := Close([]Want{{Node: "r/a", Mode: mode.S}}, parent)
	for _, o := range []Owner{"b", "a"} {
		if err := table.Acquire(o, p); err != nil {
			t.Fatal(err)
		}
	}
	before := printTable(table)
	c := table.Clone()
	c.Release("a")
	if err := c.Acquire("c", p); err != nil {
		t.Fatal(err)
	}
	if got := printTable(table); got != before {
		t.Errorf("the original changed:\n%s", got)
	}
	if got := c.Owners(); !slices.Equal(got, []Owner{"b", "c"}) {
		t.Errorf("owners of the copy: %v", got)
	}
	if table.Strongest("r/a") != mode.S || table.Strongest("r/z") != mode.NL || table.Holders("r/z") != nil {
		t.Error("strongest")
	}
	if _, ok := p.Find("r/z"); ok {
		t.Error("found a node that the plan does not name")
	}
}

// TestRelationsAreRanked: of two reasons that tell as much else, the one that is
// nearer to the operation's own object is told, for every pair of relations.
func TestRelationsAreRanked(t *testing.T) {
	t.Parallel()
	order := []Relation{Guarded, Capacity, Descendant, Rule, Reference, Named, Same}
	for i, far := range order {
		for _, near := range order[i+1:] {
			less := Want{Node: "r", Mode: mode.S, Relation: far, Rule: "a"}
			most := Want{Node: "r", Mode: mode.S, Relation: near, Rule: "b"}
			if got := Close([]Want{most, less}, parent); len(got) != 1 || got[0] != most {
				t.Errorf("%s and %s: %v", far, near, got)
			}
		}
	}
}

// TestTheReasonThatSaysMost: of several wants on one node, the plan keeps the
// mode that covers all and the reason that tells most: what is wanted before what
// is only announced, a rule before none, the stronger mode, the nearer relation;
// and where they tell as much, always the same one.
func TestTheReasonThatSaysMost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ most, less Want }{
		"wanted before announced": {
			Want{Node: "r", Mode: mode.IS, Relation: Guarded}, Want{Node: "r", Mode: mode.IX, Relation: Ancestor, Rule: "a"},
		},
		"a rule before none": {
			Want{Node: "r", Mode: mode.S, Relation: Rule, Rule: "z"}, Want{Node: "r", Mode: mode.X, Relation: Same},
		},
		"the stronger mode": {
			Want{Node: "r", Mode: mode.X, Relation: Rule, Rule: "z"}, Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "a"},
		},
		"the object itself": {
			Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "z"}, Want{Node: "r", Mode: mode.S, Relation: Reference, Rule: "a"},
		},
		"a reference before a rule": {
			Want{Node: "r", Mode: mode.S, Relation: Reference, Rule: "z"}, Want{Node: "r", Mode: mode.S, Relation: Rule, Rule: "a"},
		},
		"the first rule by name": {
			Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "a"}, Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "b"},
		},
		"the first class by name": {
			Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "a", Class: "c"}, Want{Node: "r", Mode: mode.S, Relation: Same, Rule: "a", Class: "d"},
		},
	} {
		want := c.most
		want.Mode = mode.Sup(c.most.Mode, c.less.Mode)
		for _, wants := range [][]Want{{c.most, c.less}, {c.less, c.most}, {c.most, c.less, c.most}} {
			if got := Close(wants, parent); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %v gives %v", name, wants, got)
			}
		}
	}
}
