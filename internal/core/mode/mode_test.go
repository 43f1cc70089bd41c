// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mode

import (
	"encoding/json"
	"testing"
)

var modes = []Mode{NL, IS, IX, S, SIX, X}

// access is what a mode lets its holder do: to the node itself, and to single
// nodes below. Every law of the lattice follows from it.
type access struct {
	readsAll, writesAll   bool // this node and everything below
	readsSome, writesSome bool // announced, node by node
}

var meaning = map[Mode]access{
	NL:  {},
	IS:  {readsSome: true},
	IX:  {readsSome: true, writesSome: true},
	S:   {readsAll: true, readsSome: true},
	SIX: {readsAll: true, readsSome: true, writesSome: true},
	X:   {readsAll: true, writesAll: true, readsSome: true, writesSome: true},
}

// TestCompatible derives Table 1 of the paper from what the modes mean: two
// holders exclude each other if one may write what the other may read or
// write. Announced access to single nodes is sorted out further down.
func TestCompatible(t *testing.T) {
	t.Parallel()
	clash := func(a, b access) bool {
		return a.writesAll && (b.readsSome || b.writesSome) || a.writesSome && b.readsAll
	}
	for _, a := range modes {
		for _, b := range modes {
			want := !clash(meaning[a], meaning[b]) && !clash(meaning[b], meaning[a])
			if got := Compatible(a, b); got != want {
				t.Errorf("Compatible(%s, %s) = %t, want %t", a, b, got, want)
			}
		}
	}
}

// TestCovers derives the order of the lattice from what the modes mean.
func TestCovers(t *testing.T) {
	t.Parallel()
	implies := func(b, a bool) bool { return !b || a }
	for _, a := range modes {
		for _, b := range modes {
			x, y := meaning[a], meaning[b]
			want := implies(y.readsAll, x.readsAll) && implies(y.writesAll, x.writesAll) &&
				implies(y.readsSome, x.readsSome) && implies(y.writesSome, x.writesSome)
			if got := Covers(a, b); got != want {
				t.Errorf("Covers(%s, %s) = %t, want %t", a, b, got, want)
			}
		}
	}
}

// TestSupIsLeastUpperBound checks the laws of a join-semilattice exhaustively.
func TestSupIsLeastUpperBound(t *testing.T) {
	t.Parallel()
	for _, a := range modes {
		if Sup(a, a) != a || Sup(a, NL) != a || Sup(a, X) != X {
			t.Errorf("idempotence or bounds fail for %s", a)
		}
		for _, b := range modes {
			j := Sup(a, b)
			if j != Sup(b, a) {
				t.Errorf("Sup(%s, %s) is not commutative", a, b)
			}
			if !Covers(j, a) || !Covers(j, b) {
				t.Errorf("Sup(%s, %s) = %s is no upper bound", a, b, j)
			}
			for _, c := range modes {
				if Covers(c, a) && Covers(c, b) && !Covers(c, j) {
					t.Errorf("Sup(%s, %s) = %s, but %s is lower", a, b, j, c)
				}
				if Sup(Sup(a, b), c) != Sup(a, Sup(b, c)) {
					t.Errorf("Sup is not associative at %s, %s, %s", a, b, c)
				}
			}
		}
	}
}

// TestStrongerExcludesMore: what a mode is compatible with shrinks as the mode
// grows, and a join excludes exactly what one of its parts excludes.
func TestStrongerExcludesMore(t *testing.T) {
	t.Parallel()
	for _, a := range modes {
		for _, b := range modes {
			for _, c := range modes {
				if Covers(a, b) && Compatible(a, c) && !Compatible(b, c) {
					t.Errorf("%s is stronger than %s but allows %s", a, b, c)
				}
				if Compatible(Sup(a, b), c) != (Compatible(a, c) && Compatible(b, c)) {
					t.Errorf("Sup(%s, %s) against %s", a, b, c)
				}
			}
		}
	}
}

// TestIntention: an intention announces exactly the access below, and a mode
// that clashes on a child clashes either there or with the lock on the whole.
func TestIntention(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		i := Intention(m)
		if m != NL && !IsIntention(i) {
			t.Errorf("Intention(%s) = %s announces nothing", m, i)
		}
		if Intention(i) != i {
			t.Errorf("Intention(%s) changes on the way up", m)
		}
		if !Covers(m, i) {
			t.Errorf("%s does not cover its intention %s", m, i)
		}
		for _, whole := range []Mode{S, X} {
			if !Compatible(m, whole) && Compatible(i, whole) {
				t.Errorf("%s below would be missed by %s on the whole", m, whole)
			}
		}
	}
}

// TestAnnouncements: what only announces locks further down gives no access to the
// node itself. SIX announces too, and is no mere announcement.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		if got, want := IsIntention(m), m != NL && Intention(m) == m; got != want {
			t.Errorf("IsIntention(%s) = %t", m, got)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Mode
		if err := json.Unmarshal(data, &back); err != nil || back != m {
			t.Errorf("%s came back as %s: %v", m, back, err)
		}
		if p, err := Parse(m.String()); err != nil || p != m {
			t.Errorf("Parse(%s) = %s, %v", m, p, err)
		}
	}
	if _, err := Parse("XX"); err == nil {
		t.Error("an unknown mode was read")
	}
	if _, err := (X + 1).MarshalText(); err == nil {
		t.Error("a mode outside the lattice was written")
	}
	var m Mode
	if err := m.UnmarshalText([]byte("six")); err == nil {
		t.Error("modes are upper case")
	}
	if got := (X + 1).String(); got != "Mode(6)" {
		t.Errorf("String of an unknown mode: %s", got)
	}
}
