// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package cow holds containers that are copied when they are written to (copy
// on write), so that a copy of a whole state of the protocol costs nothing until
// one side changes.
//
// A container is a value: assigning it makes a copy that shares everything. Who
// writes names an [Owner]; what was written in the name of the same owner before
// is changed in place, everything else is copied first. So a structure made of
// containers is cloned by parting from what it owns and assigning all of them:
//
//	s.owner.Part()
//	c := *s
//
// Containers may stand in containers. None is safe for concurrent writes; copies
// with different owners may be used at the same time.
package cow

// Owner is who may change in place what was written in its name. The zero value
// has written nothing.
type Owner struct{ mark Mark }

// Mark is what an owner leaves on what it has written; never nil.
type Mark *mark

// mark is known by its address.
type mark struct{ _ byte }

// Part gives up everything: it is copied before it is changed again. Parting
// from nothing writes nothing.
func (o *Owner) Part() {
	if o.mark != nil {
		o.mark = nil
	}
}

// Mark is the owner's present mark: another one after each parting.
func (o *Owner) Mark() Mark {
	if o.mark == nil {
		o.mark = new(mark)
	}
	return o.mark
}
