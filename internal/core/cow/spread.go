// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

const (
	// bucketSize is how many entries a bucket has before it is split: as much as
	// is searched one by one, and as is copied for one change, without regret.
	bucketSize = 32
	// reservedFill is how full the buckets of a map are to become for which room
	// was made.
	reservedFill = bucketSize / 2
	// maxDepth bounds the directory; buckets grow beyond their size then.
	maxDepth = 24
)

// seed makes the places of keys differ from process to process, so that nobody
// can choose keys that meet.
var seed = maphash.MakeSeed()

// spread is a hash map of many entries, by extendible hashing: a directory of
// small buckets, by the leading bits of a key's hash. After a parting, a change
// copies the directory once and the buckets that are changed, and not every
// entry.
type spread[K comparable, V any] struct {
	owner     Mark // of the directory
	depth     int  // it has 1<<depth places
	directory []*bucket[K, V]
	count     int
}

// bucket has the entries whose hashes begin with the same depth bits. It stands in
// 1<<(the directory's depth - its own) places next to each other.
type bucket[K comparable, V any] struct {
	owner Mark
	depth int
	// tags are the leading 32 bits of the hashes of the entries.
	tags    []uint32
	entries []entry[K, V]
}

// newSpread is an empty map with room for n entries.
func newSpread[K comparable, V any](o *Owner, n int) *spread[K, V] {
	depth := min(bits.Len(uint(n/reservedFill)), maxDepth)
	s := &spread[K, V]{owner: o.Mark(), depth: depth, directory: make([]*bucket[K, V], 1<<depth)}
	room := min(n>>depth+n>>(depth+1), bucketSize)
	for i := range s.directory {
		s.directory[i] = newBucket[K, V](o, depth, room)
	}
	return s
}

func newBucket[K comparable, V any](o *Owner, depth, room int) *bucket[K, V] {
	return &bucket[K, V]{owner: o.Mark(), depth: depth, tags: make([]uint32, 0, room), entries: make([]entry[K, V], 0, room)}
}

func tagOf[K comparable](k K) uint32 { return uint32(maphash.Comparable(seed, k) >> 32) }

// place is the place of a tag in the directory.
func (s *spread[K, V]) place(tag uint32) int { return int(uint64(tag) << s.depth >> 32) }

func (s *spread[K, V]) find(k K) (v V, ok bool) {
	tag := tagOf(k)
	b := s.directory[s.place(tag)]
	if at := b.find(tag, k); at >= 0 {
		return b.entries[at].value, true
	}
	return v, false
}

// find is the place of a key, -1 for none.
func (b *bucket[K, V]) find(tag uint32, k K) int {
	for i, t := range b.tags {
		if t == tag && b.entries[i].key == k {
			return i
		}
	}
	return -1
}

func (s *spread[K, V]) set(o *Owner, k K, v V) {
	tag := tagOf(k)
	b := s.own(o, tag)
	if at := b.find(tag, k); at >= 0 {
		b.entries[at].value = v
		return
	}
	for len(b.tags) >= bucketSize && b.depth < maxDepth {
		s.split(o, b, tag)
		b = s.directory[s.place(tag)]
	}
	b.tags, b.entries = append(b.tags, tag), append(b.entries, entry[K, V]{v, k})
	s.count++
}

// remove takes a key out that is there. The last entry of its bucket takes its
// place.
func (s *spread[K, V]) remove(o *Owner, k K) {
	tag := tagOf(k)
	b := s.own(o, tag)
	at, last := b.find(tag, k), len(b.tags)-1
	b.tags[at], b.entries[at] = b.tags[last], b.entries[last]
	b.entries[last] = entry[K, V]{}
	b.tags, b.entries = b.tags[:last], b.entries[:last]
	s.count--
}

// own is the bucket of a tag, which may be changed, and so may the directory.
func (s *spread[K, V]) own(o *Owner, tag uint32) *bucket[K, V] {
	me := o.Mark()
	if s.owner != me {
		s.owner, s.directory = me, slices.Clone(s.directory)
	}
	at := s.place(tag)
	b := s.directory[at]
	if b.owner == me {
		return b
	}
	fresh := newBucket[K, V](o, b.depth, len(b.tags)+1)
	fresh.tags, fresh.entries = append(fresh.tags, b.tags...), append(fresh.entries, b.entries...)
	s.put(at, fresh)
	return fresh
}

// put gives a bucket all its places in the directory, of which at is one.
func (s *spread[K, V]) put(at int, b *bucket[K, V]) {
	places := 1 << (s.depth - b.depth)
	first := at &^ (places - 1)
	for i := first; i < first+places; i++ {
		s.directory[i] = b
	}
}

// split divides the bucket of a tag by one more bit.
func (s *spread[K, V]) split(o *Owner, b *bucket[K, V], tag uint32) {
	if b.depth == s.depth {
		s.double()
	}
	halves := [2]*bucket[K, V]{}
	for i := range halves {
		halves[i] = newBucket[K, V](o, b.depth+1, 3*bucketSize/4)
	}
	shift := 31 - b.depth
	for i, t := range b.tags {
		half := halves[t>>shift&1]
		half.tags, half.entries = append(half.tags, t), append(half.entries, b.entries[i])
	}
	at, places := s.place(tag), 1<<(s.depth-b.depth)
	first := at &^ (places - 1)
	s.put(first, halves[0])
	s.put(first+places/2, halves[1])
}

// double makes the directory twice as large.
func (s *spread[K, V]) double() {
	twice := make([]*bucket[K, V], 0, 2*len(s.directory))
	for _, b := range s.directory {
		twice = append(twice, b, b)
	}
	s.directory = twice
	s.depth++
}

// all yields each entry until it is told to stop, which it returns.
func (s *spread[K, V]) all(yield func(K, V) bool) bool {
	for at := 0; at < len(s.directory); {
		b := s.directory[at]
		for i := range b.entries {
			if !yield(b.entries[i].key, b.entries[i].value) {
				return false
			}
		}
		at += 1 << (s.depth - b.depth)
	}
	return true
}
