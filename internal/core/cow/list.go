// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package cow

import "slices"

// List is a list of values. The zero value is empty.
type List[T any] struct {
	owner Mark
	items []T
}

// ListOf is the list of items, which nobody changes any more.
func ListOf[T any](items []T) List[T] { return List[T]{items: items} }

// Len is the number of items.
func (l *List[T]) Len() int { return len(l.items) }

// Items are all items. They must only be read, and not kept over a change of
// the list.
func (l *List[T]) Items() []T { return l.items }

// Append puts an item at the end.
func (l *List[T]) Append(o *Owner, x T) { l.Insert(o, len(l.items), x) }

// Insert puts an item before the one at a place.
func (l *List[T]) Insert(o *Owner, at int, x T) {
	l.own(o)
	l.items = slices.Insert(l.items, at, x)
}

// Delete takes the item at a place out. The first one goes at no cost.
func (l *List[T]) Delete(o *Owner, at int) {
	if at == 0 {
		l.items = l.items[1:]
		return
	}
	l.own(o)
	l.items = slices.Delete(l.items, at, at+1)
}

func (l *List[T]) own(o *Owner) {
	if me := o.Mark(); l.owner != me {
		l.owner = me
		l.items = append(make([]T, 0, len(l.items)+1), l.items...)
	}
}
