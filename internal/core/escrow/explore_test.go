// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package escrow

import "testing"

func change(id CallID, n int64, after ...CallID) Call {
	return Call{ID: id, Effects: Collect(Effect{bucketKey, n}), After: after}
}

func single(o Owner, n int64) agent { return agent{o, Order{change("", n)}, true} }

// family is a parent and its child, both replaced: the child goes before the parent and comes after it.
func family(o Owner) agent {
	return agent{o, Order{change("1", -1), change("2", -1, "1"), change("3", 1, "2"), change("4", 1, "3")}, true}
}

func swap(o Owner, claimed bool) agent {
	return agent{o, Order{change("1", -1), change("2", 1, "1")}, claimed}
}

// TestAllInterleavings tries everything that can happen in small scenes. The
// list of what must have been met keeps the scenes from becoming trivial.
func TestAllInterleavings(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		scene
		meets []string
	}{
		"singles": {
			scene{limit: At(2), use: 1, agents: []agent{single("A", 1), single("B", 1), single("C", -1)}, reads: 1},
			[]string{"full", "ambiguous", "waits", "exact sup", "exact inf", "hopeless"},
		},
		"replace with lost answers": {
			scene{limit: At(2), use: 2, agents: []agent{swap("A", true), single("B", 1)}, reads: 1, release: true},
			[]string{"full", "ambiguous", "waits", "exact sup", "exact inf"},
		},
		"create first": {
			scene{
				limit: At(2), use: 1, reads: 1, plain: true,
				agents: []agent{{"A", Order{change("1", 1), change("2", -1, "1")}, true}, single("B", 1)},
			},
			[]string{"full", "ambiguous", "waits", "exact sup", "exact inf"},
		},
		"replace against create": {
			scene{limit: At(2), use: 2, agents: []agent{swap("A", true), single("B", 1)}, reads: 2, release: true, plain: true},
			[]string{"full", "ambiguous", "overcommitted", "late", "waits", "exact sup", "exact inf"},
		},
		"family against create": {
			scene{limit: At(2), use: 2, agents: []agent{family("A"), single("B", 1)}, reads: 1, release: true, plain: true},
			[]string{"full", "ambiguous", "waits", "exact sup", "exact inf"},
		},
		"smaller replacement": {
			scene{
				limit: At(3), use: 3, plain: true, reads: 1,
				agents: []agent{{"A", Order{change("1", -2), change("2", 1, "1")}, true}, single("B", 1), single("C", 1)},
			},
			[]string{"full", "ambiguous", "hopeless", "exact sup", "exact inf"},
		},
		"reservation": {
			scene{
				limit: At(2), use: 1, reads: 1, release: true,
				plain:  true,
				agents: []agent{{"A", Order{change("1", -1), change("2", 1, "1"), change("3", 1)}, false}, single("B", 1)},
			},
			[]string{"full", "ambiguous", "waits", "hopeless", "exact sup", "exact inf"},
		},
		"two plans wait for each other's declared frees": {
			scene{
				limit: At(2), use: 2, plain: true,
				agents: []agent{swap("A", false), swap("B", false), single("C", 1)},
			},
			[]string{"full", "hopeless", "exact sup", "exact inf"},
		},
		"limit lowered": {
			scene{limit: At(3), use: 1, agents: []agent{swap("A", true), single("B", 1)}, lower: At(1), reads: 1, plain: true},
			[]string{"full", "overcommitted", "waits"},
		},
		"change from outside": {
			scene{limit: At(3), use: 1, agents: []agent{swap("A", true), single("B", 1)}, reads: 1, outside: 2, plain: true},
			[]string{"full", "ambiguous", "overcommitted"},
		},
		"nothing known at first": {
			scene{limit: At(2), use: 1, blind: true, agents: []agent{swap("A", true), single("B", 1)}, reads: 2, plain: true},
			[]string{"full", "ambiguous", "overcommitted", "late", "exact sup", "exact inf"},
		},
		"floor": {
			scene{
				limit: At(3), floor: At(0), use: 1, reads: 1, plain: true,
				agents: []agent{swap("A", false), single("B", -1)},
			},
			[]string{"waits", "hopeless", "ambiguous"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			met := explore(t, x.scene)
			t.Log(met)
			for _, what := range x.meets {
				if met[what] == 0 {
					t.Errorf("never met: %s", what)
				}
			}
		})
	}
}
