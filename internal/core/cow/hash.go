// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import "maps"

// Hash is a hash map. The zero value is empty.
type Hash[K comparable, V any] struct {
	owner   Mark
	entries map[K]V
}

// Len is the number of entries.
func (h *Hash[K, V]) Len() int { return len(h.entries) }

// Get is the value of a key, or the zero value.
func (h *Hash[K, V]) Get(k K) V { return h.entries[k] }

// Find is the value of a key, and whether there is one.
func (h *Hash[K, V]) Find(k K) (V, bool) {
	v, ok := h.entries[k]
	return v, ok
}

// Set gives a key a value.
func (h *Hash[K, V]) Set(o *Owner, k K, v V) {
	h.own(o)
	h.entries[k] = v
}

// Delete takes a key out.
func (h *Hash[K, V]) Delete(o *Owner, k K) {
	if _, ok := h.entries[k]; ok {
		h.own(o)
		delete(h.entries, k)
	}
}

func (h *Hash[K, V]) own(o *Owner) {
	me := o.Mark()
	switch {
	case h.entries == nil:
		h.entries = map[K]V{}
	case h.owner != me:
		h.entries = maps.Clone(h.entries)
	}
	h.owner = me
}

// All is an iterator in no particular order. The map must not be changed
// meanwhile.
func (h *Hash[K, V]) All(yield func(K, V) bool) {
	for k, v := range h.entries {
		if !yield(k, v) {
			return
		}
	}
}
