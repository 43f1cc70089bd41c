// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package space

import (
	"encoding/binary"
	"testing"
)

// TestSet: every key is new once, also when the set grows.
func TestSet(t *testing.T) {
	t.Parallel()
	const n = 100_000
	s := NewSet(0)
	for round := range 2 {
		for i := range n {
			var b [16]byte
			binary.LittleEndian.PutUint64(b[8:], uint64(i))
			if fresh := s.Add(Hash(b[:])); fresh != (round == 0) {
				t.Fatalf("round %d, %d: new %t", round, i, fresh)
			}
		}
	}
	if s.Len() != n {
		t.Errorf("%d keys of %d", s.Len(), n)
	}
	if s.Clear(); s.Len() != 0 || !s.Add(Key{}) || s.Add(Key{}) {
		t.Error("a cleared set")
	}
}

// TestHashSeesEveryBit: states that differ in one bit have keys that share
// neither half.
func TestHashSeesEveryBit(t *testing.T) {
	t.Parallel()
	var b [96]byte
	base := Hash(b[:])
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if k := Hash(b[:]); k.a == base.a || k.b == base.b {
				t.Errorf("byte %d bit %d: %v and %v", i, bit, base, k)
			}
			b[i] ^= 1 << bit
		}
	}
}
