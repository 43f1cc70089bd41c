// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// book is a structure made of all kinds of containers, beside a model of it.
type book struct {
	owner Owner
	byKey Map[string, int]
	hash  Hash[string, int]
	list  List[int]

	model map[string]int
	items []int
}

func (b *book) clone() *book {
	b.owner.Part()
	c := *b
	c.model, c.items = maps.Clone(b.model), slices.Clone(b.items)
	return &c
}

func (b *book) change(r *rand.Rand) {
	k, at := fmt.Sprint(r.IntN(3*few)), 0
	if n := len(b.items); n > 0 {
		at = r.IntN(n)
	}
	switch r.IntN(5) {
	case 0:
		b.byKey.Delete(&b.owner, k)
		b.hash.Delete(&b.owner, k)
		delete(b.model, k)
	case 1:
		if len(b.items) > 0 {
			b.list.Delete(&b.owner, at)
			b.items = slices.Delete(b.items, at, at+1)
		}
	case 2:
		b.list.Append(&b.owner, r.IntN(9))
		b.items = append(b.items, b.list.Items()[b.list.Len()-1])
	case 3:
		b.list.Insert(&b.owner, at, 7)
		b.items = slices.Insert(b.items, at, 7)
	default:
		b.byKey.Set(&b.owner, k, len(b.model))
		b.hash.Set(&b.owner, k, len(b.model))
		b.model[k] = len(b.model)
	}
}

func (b *book) check(t *testing.T) {
	t.Helper()
	for name, got := range map[string]map[string]int{"map": maps.Collect(b.byKey.All), "hash": maps.Collect(b.hash.All)} {
		if d := cmp.Diff(b.model, got); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
	}
	if !slices.Equal(b.items, b.list.Items()) {
		t.Fatalf("list %v, not %v", b.list.Items(), b.items)
	}
	keys := slices.Sorted(maps.Keys(b.model))
	var sorted []string
	for k, v := range b.byKey.Sorted {
		if sorted = append(sorted, k); v != b.model[k] || b.byKey.Get(k) != v || !b.byKey.Has(k) {
			t.Fatalf("%s is %d", k, v)
		}
	}
	if !slices.Equal(sorted, keys) || !slices.Equal(b.byKey.Keys(), keys) || b.byKey.Len() != len(keys) || b.hash.Len() != len(keys) {
		t.Fatalf("keys %v and %v, not %v", sorted, b.byKey.Keys(), keys)
	}
	if b.byKey.Has("nobody") || b.byKey.Get("nobody") != 0 || b.hash.Get("nobody") != 0 {
		t.Fatal("a key that was never set")
	}
}

// TestClonesAreIndependent: copies of copies, changed side by side, are each what
// a plain map and slice would be; while there are few entries, and many.
func TestClonesAreIndependent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		books := []*book{{model: map[string]int{}}}
		for range 600 {
			b := books[r.IntN(len(books))]
			if len(books) < 8 && r.IntN(20) == 0 {
				books = append(books, b.clone())
			}
			b.change(r)
		}
		for _, b := range books {
			b.check(t)
		}
	}
}

// TestOwnedIsChangedInPlace: without a parting, nothing is copied. It does not run
// beside others: allocations are counted for the whole process.
func TestOwnedIsChangedInPlace(t *testing.T) {
	for _, n := range []int{few / 2, 2 * few} {
		var o Owner
		var m Map[int, int]
		m.Reserve(&o, n)
		for i := range n {
			m.Set(&o, i, i)
		}
		if allocs := testing.AllocsPerRun(100, func() { m.Set(&o, 3, 4) }); allocs != 0 {
			t.Errorf("%d entries: %v allocations to change one", n, allocs)
		}
	}
}

// TestCopiedOnceAfterAParting: after a parting the first change copies, and the
// next ones do not.
func TestCopiedOnceAfterAParting(t *testing.T) {
	for _, n := range []int{few / 2, 2 * few} {
		var o Owner
		var m Map[int, int]
		var h Hash[int, int]
		var l List[int]
		for i := range n {
			m.Set(&o, i, i)
			h.Set(&o, i, i)
			l.Append(&o, i)
		}
		o.Part()
		change := func() {
			m.Set(&o, 3, 4)
			h.Set(&o, 3, 4)
			l.Delete(&o, 2)
			l.Insert(&o, 2, 7)
		}
		change()
		if allocs := testing.AllocsPerRun(100, change); allocs != 0 {
			t.Errorf("%d entries: %v allocations for changes of what was copied already", n, allocs)
		}
	}
}
