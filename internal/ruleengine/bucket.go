// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// bucket is a count that belongs to every object of a type, and how a read of
// the object tells its limit and how much of it everybody uses. Either may be
// nil.
type bucket struct {
	name       string
	limit, use hcl.Expression // over self and id
	meta       meta
}

// readings evaluates the buckets of an object that was read. An expression that
// fails takes nothing but its own number away.
func (a account) readings(r *resource, s scope, seen *Seen) {
	for _, b := range r.buckets {
		reading := admission.Reading{Bucket: admission.BucketOf(seen.Observation.Decl.ID, b.name)}
		reading.Limit = s.bound(b.limit, "limit of "+b.name, seen)
		reading.Use = s.bound(b.use, "use of "+b.name, seen)
		if reading.Limit.Set || reading.Use.Set {
			seen.Readings = append(seen.Readings, reading)
		}
	}
}

// bound evaluates a number that may be absent, which null says.
func (s scope) bound(x hcl.Expression, what string, seen *Seen) escrow.Bound {
	if x == nil {
		return escrow.Bound{}
	}
	n, err := s.count(x)
	switch {
	case err == nil:
		return escrow.At(n)
	case !errors.Is(err, ErrNull):
		seen.Notes = append(seen.Notes, fmt.Sprintf("the %s cannot be told: %v", what, err))
	}
	return escrow.Bound{}
}

// resized are the buckets of the object whose limit is not, or may not be,
// afterwards what it was before.
func (d *draft) resized() []Bucket {
	if d.op.Action != admission.Create && d.op.Action != admission.Update || !d.subject.derived {
		return nil
	}
	var list []Bucket
	for _, b := range d.rule.buckets {
		if b.limit == nil || d.op.Action == admission.Update && d.sameLimit(b) {
			continue
		}
		self := d.subject.self
		list = append(list, Bucket{Key: admission.BucketOf(self.ID, b.name), Owner: self, Rule: b.meta.rule})
	}
	return list
}

// sameLimit says whether an update certainly leaves a limit as it is.
func (d *draft) sameLimit(b *bucket) bool {
	var limits [2]int64
	var told [2]error
	for on, root := range sideRoots() {
		s := d.scope.with(rootSelf, d.scope.vars[root]).with(rootID, d.subject.id)
		limits[on], told[on] = s.count(b.limit)
	}
	if errors.Is(told[before], ErrNull) && errors.Is(told[after], ErrNull) {
		return true
	}
	return told[before] == nil && told[after] == nil && limits[before] == limits[after]
}

// progress finds out whether an operation on the object is under way.
func (a account) progress(r *resource, s scope, seen *Seen) {
	x := r.terminal
	if x == nil {
		x = a.pack.terminal
	}
	// A condition that cannot be told holds, which is wrong here.
	ok, err := s.holds(x)
	seen.Terminal = ok && err == nil
	if err != nil {
		seen.Notes = append(seen.Notes, fmt.Sprintf("whether an operation is in progress cannot be told: %v", err))
	}
}
