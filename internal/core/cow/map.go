// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import (
	"cmp"
	"slices"
)

// few is how many entries a Map keeps in a sorted list: about where a hash map
// becomes quicker.
const few = 48

// Map is a map that keeps its keys in order while they are few. The zero value
// is empty.
type Map[K cmp.Ordered, V any] struct {
	list sorted[K, V] // while there are few
	hash Hash[K, V]   // else
}

// sorted is a list of entries, by key.
type sorted[K cmp.Ordered, V any] struct {
	owner   Mark
	entries []entry[K, V]
}

// entry has its value first, where one of no size takes no room.
type entry[K comparable, V any] struct {
	value V
	key   K
}

// find is the place of a key, or where it belongs.
func (s *sorted[K, V]) find(k K) (at int, ok bool) {
	lo, hi := 0, len(s.entries)
	for lo < hi {
		if mid := (lo + hi) / 2; s.entries[mid].key < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s.entries) && s.entries[lo].key == k
}

// own makes the list the owner's, with room for one more.
func (s *sorted[K, V]) own(o *Owner) {
	if me := o.Mark(); s.owner != me {
		s.owner = me
		s.entries = append(make([]entry[K, V], 0, len(s.entries)+1), s.entries...)
	}
}

// Len is the number of entries.
func (m *Map[K, V]) Len() int { return len(m.list.entries) + m.hash.Len() }

// Get is the value of a key, or the zero value.
func (m *Map[K, V]) Get(k K) V {
	v, _ := m.Find(k)
	return v
}

// Find is the value of a key, and whether there is one.
func (m *Map[K, V]) Find(k K) (v V, ok bool) {
	if m.hash.Len() > 0 {
		return m.hash.Find(k)
	}
	at, ok := m.list.find(k)
	if ok {
		v = m.list.entries[at].value
	}
	return v, ok
}

// Has says whether a key has a value.
func (m *Map[K, V]) Has(k K) bool {
	_, ok := m.Find(k)
	return ok
}

// Set gives a key a value.
func (m *Map[K, V]) Set(o *Owner, k K, v V) {
	if m.hash.Len() > 0 {
		m.hash.Set(o, k, v)
		return
	}
	at, ok := m.list.find(k)
	switch {
	case ok:
		m.list.own(o)
		m.list.entries[at].value = v
	case len(m.list.entries) < few:
		m.list.own(o)
		m.list.entries = slices.Insert(m.list.entries, at, entry[K, V]{v, k})
	default:
		for _, e := range m.list.entries {
			m.hash.Set(o, e.key, e.value)
		}
		m.hash.Set(o, k, v)
		m.list = sorted[K, V]{}
	}
}

// Delete takes a key out. A map of many stays one until it is empty.
func (m *Map[K, V]) Delete(o *Owner, k K) {
	if m.hash.Len() > 0 {
		m.hash.Delete(o, k)
		return
	}
	if at, ok := m.list.find(k); ok {
		m.list.own(o)
		m.list.entries = slices.Delete(m.list.entries, at, at+1)
	}
}

// All is an iterator in no particular order. The map must not be changed
// meanwhile.
func (m *Map[K, V]) All(yield func(K, V) bool) {
	if m.hash.Len() > 0 {
		m.hash.All(yield)
		return
	}
	m.list.all(yield)
}

func (s *sorted[K, V]) all(yield func(K, V) bool) {
	for i := range s.entries {
		if !yield(s.entries[i].key, s.entries[i].value) {
			return
		}
	}
}

// Sorted is an iterator in the order of the keys. The map must not be changed
// meanwhile.
func (m *Map[K, V]) Sorted(yield func(K, V) bool) {
	if m.hash.Len() == 0 {
		m.list.all(yield)
		return
	}
	for _, k := range m.Keys() {
		if !yield(k, m.hash.Get(k)) {
			return
		}
	}
}

// Keys are all keys, in order; nil for none.
func (m *Map[K, V]) Keys() []K {
	if m.hash.Len() > 0 {
		keys := make([]K, 0, m.hash.Len())
		for k := range m.hash.All {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return keys
	}
	if len(m.list.entries) == 0 {
		return nil
	}
	keys := make([]K, len(m.list.entries))
	for i, e := range m.list.entries {
		keys[i] = e.key
	}
	return keys
}

// Reserve makes room for so many entries in an empty map.
func (m *Map[K, V]) Reserve(o *Owner, n int) {
	if n > few && m.Len() == 0 {
		m.hash.Reserve(o, n)
	}
}
