// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import "maps"

// many is from how many entries on a Hash is spread over buckets. A smaller one is
// a plain map, which is copied as a whole.
const many = 48

// Hash is a hash map. The zero value is empty. After a parting, the first change
// takes a time that grows with the number of entries, though slowly: a large map
// is copied by pieces.
type Hash[K comparable, V any] struct {
	owner   Mark // of what is a plain map, or of the head of what is spread
	entries map[K]V
	large   *spread[K, V] // instead of entries; its head is copied like a value
}

// Len is the number of entries.
func (h *Hash[K, V]) Len() int {
	if h.large != nil {
		return h.large.count
	}
	return len(h.entries)
}

// Get is the value of a key, or the zero value.
func (h *Hash[K, V]) Get(k K) V {
	v, _ := h.Find(k)
	return v
}

// Find is the value of a key, and whether there is one.
func (h *Hash[K, V]) Find(k K) (V, bool) {
	if h.large != nil {
		return h.large.find(k)
	}
	v, ok := h.entries[k]
	return v, ok
}

// Set gives a key a value.
func (h *Hash[K, V]) Set(o *Owner, k K, v V) {
	h.own(o)
	if h.large == nil && len(h.entries) >= many {
		h.enlarge(o)
	}
	if h.large != nil {
		h.large.set(o, k, v)
		return
	}
	h.entries[k] = v
}

// enlarge spreads the entries.
func (h *Hash[K, V]) enlarge(o *Owner) {
	h.large = newSpread[K, V](o, 2*many)
	for k, v := range h.entries {
		h.large.set(o, k, v)
	}
	h.entries = nil
}

// Delete takes a key out. A map of many stays one until it is empty.
func (h *Hash[K, V]) Delete(o *Owner, k K) {
	if _, ok := h.Find(k); !ok {
		return
	}
	if h.Len() == 1 {
		*h = Hash[K, V]{}
		return
	}
	h.own(o)
	if h.large != nil {
		h.large.remove(o, k)
		return
	}
	delete(h.entries, k)
}

// own makes what stands in h itself the owner's; buckets follow when they are
// changed.
func (h *Hash[K, V]) own(o *Owner) {
	me := o.Mark()
	switch {
	case h.owner == me:
	case h.large != nil:
		head := *h.large
		h.large = &head
	case h.entries == nil:
		h.entries = map[K]V{}
	default:
		h.entries = maps.Clone(h.entries)
	}
	h.owner = me
}

// All is an iterator in no particular order. The map must not be changed
// meanwhile.
func (h *Hash[K, V]) All(yield func(K, V) bool) {
	if h.large != nil {
		h.large.all(yield)
		return
	}
	for k, v := range h.entries {
		if !yield(k, v) {
			return
		}
	}
}

// Reserve makes room for so many entries in an empty map.
func (h *Hash[K, V]) Reserve(o *Owner, n int) {
	switch {
	case h.Len() > 0:
	case n > many:
		*h = Hash[K, V]{owner: o.Mark(), large: newSpread[K, V](o, n)}
	case n > 0:
		*h = Hash[K, V]{owner: o.Mark(), entries: make(map[K]V, n)}
	}
}
