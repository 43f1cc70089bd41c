// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLargeMapsAreIndependent: copies of a map of thousands, changed side by side,
// are each what a plain map would be, while they grow, shrink and become empty.
func TestLargeMapsAreIndependent(t *testing.T) {
	t.Parallel()
	type book struct {
		owner Owner
		hash  Hash[int, int]
		model map[int]int
	}
	r := rand.New(rand.NewPCG(1, 1))
	first := &book{model: map[int]int{}}
	first.hash.Reserve(&first.owner, 100)
	books := []*book{first}
	for round := range 60 {
		b := books[r.IntN(len(books))]
		if len(books) < 6 {
			b.owner.Part()
			c := *b
			c.model = maps.Clone(b.model)
			books = append(books, &c)
		}
		for range 400 {
			k := r.IntN(4000)
			if round >= 40 || r.IntN(3) == 0 {
				b.hash.Delete(&b.owner, k)
				delete(b.model, k)
				continue
			}
			b.hash.Set(&b.owner, k, round)
			b.model[k] = round
		}
	}
	for i, b := range books {
		if i == 0 {
			for k := range maps.Clone(b.model) {
				b.hash.Delete(&b.owner, k)
			}
			b.model = map[int]int{}
		}
		if d := cmp.Diff(b.model, maps.Collect(b.hash.All)); d != "" || b.hash.Len() != len(b.model) {
			t.Errorf("copy %d of %d entries: %s", i, b.hash.Len(), d)
		}
		for k := range 4000 {
			v, ok := b.hash.Find(k)
			want, has := b.model[k]
			if v != want || ok != has {
				t.Fatalf("copy %d: %d is %d, %t, not %d, %t", i, k, v, ok, want, has)
			}
		}
	}
}

// TestOneChangeCopiesLittle: after a parting, a change of a large map copies the
// directory and one bucket. It does not run beside others: bytes are counted for
// the whole process.
func TestOneChangeCopiesLittle(t *testing.T) {
	const n = 100_000
	var o Owner
	var h Hash[int, int]
	h.Reserve(&o, n)
	for i := range n {
		h.Set(&o, i, i)
	}
	took := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			o.Part()
			c := h
			h.Set(&o, i%n, i)
			_ = c
		}
	})
	if most := int64(256 << 10); took.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes are copied for one change, more than %d", took.AllocedBytesPerOp(), most)
	}
}

// TestTellsWhenToStop: an iterator that is told to stop does.
func TestTellsWhenToStop(t *testing.T) {
	t.Parallel()
	var o Owner
	var h Hash[int, int]
	for i := range 500 {
		h.Set(&o, i, i)
	}
	seen := 0
	for range h.All {
		if seen++; seen == 7 {
			break
		}
	}
	if seen != 7 {
		t.Errorf("%d entries", seen)
	}
}
