// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package space remembers which states a search has seen: a set of 128-bit keys
// that costs 16 bytes a state and some nanoseconds a look-up, and the hash that
// makes the keys.
//
// With n states the chance that two of them share a key is below n*n / 2^129:
// for ten million states about 1 in 10^24.
package space

import (
	"encoding/binary"
	"math/bits"
)

// Key identifies a state.
type Key struct{ a, b uint64 }

// Hash makes the key of a state from its canonical bytes, whose length must be a
// multiple of eight.
func Hash(b []byte) Key {
	x, y := uint64(0x9e3779b97f4a7c15), uint64(0xc2b2ae3d27d4eb4f)
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		b = b[8:]
		hi, lo := bits.Mul64(w^x, 0xa0761d6478bd642f)
		x = hi ^ lo ^ bits.RotateLeft64(y, 29)
		hi, lo = bits.Mul64(w^y^0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3)
		y = hi ^ lo + bits.RotateLeft64(x, 17)
	}
	return Key{finish(x ^ bits.RotateLeft64(y, 7)), finish(y + 0x589965cc75374cc3)}
}

func finish(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// Set is a set of keys. The zero value is not usable; see [NewSet].
type Set struct {
	slots []Key // a power of two; the zero key is an empty slot
	count int
}

// NewSet is an empty set with room for some keys.
func NewSet(room int) *Set {
	size := 1024
	for size*3 < room*4 {
		size *= 2
	}
	return &Set{slots: make([]Key, size)}
}

// Len is the number of keys in the set.
func (s *Set) Len() int { return s.count }

// Add puts a key into the set and says whether it is new.
func (s *Set) Add(k Key) bool {
	if k == (Key{}) {
		k.b = 1
	}
	if s.count*4 >= len(s.slots)*3 {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := k.a & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case k:
			return false
		case Key{}:
			s.slots[i] = k
			s.count++
			return true
		}
	}
}

// Clear empties the set and keeps its room.
func (s *Set) Clear() {
	clear(s.slots)
	s.count = 0
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]Key, 2*len(old))
	s.count = 0
	for _, k := range old {
		if k != (Key{}) {
			s.Add(k)
		}
	}
}
