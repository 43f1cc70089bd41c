// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// side is one of the two states of an operation: what was, and what is wanted.
type side int

const (
	before side = iota
	after
)

// sideRoots are the variables that hold the states, by side.
func sideRoots() [2]string { return [2]string{before: rootPrior, after: rootPlanned} }

// refers says whether the rule knows references for certain.
func (r *resource) refers() bool {
	return slices.ContainsFunc(r.references, func(ref *reference) bool { return !ref.meta.low })
}

// referents are the targets of one reference on both sides.
type referents struct {
	rule    *reference
	targets [2][]chain
	// why is the reason why a target on a side could not be told; nil when all
	// could.
	why [2]error
}

// all are the targets on either side, each once.
func (r referents) all() []chain {
	both := r.targets[after]
	for _, c := range r.targets[before] {
		if !containsChain(both, c) {
			both = append(both[:len(both):len(both)], c)
		}
	}
	return both
}

func containsChain(list []chain, c chain) bool {
	for _, other := range list {
		if other[0].ID == c[0].ID {
			return true
		}
	}
	return false
}

// refer evaluates a reference on one side. Values that are not known, or that
// are no ids, are skipped and noted: the object they will name is made in the
// same run, or the provider will refuse them.
func (a account) refer(ref *reference, s scope, r *referents, on side, note func(error)) error {
	v, err := s.value(ref.ids)
	if err != nil {
		return err
	}
	ids, err := elements(v)
	if err == nil {
		for _, id := range ids {
			if err = a.target(ref, s, r, on, id); err != nil {
				r.why[on] = err
				note(err)
			}
		}
		return nil
	}
	r.why[on] = err
	note(err)
	return nil
}

// target adds the target that one id names. Null and empty ids name none.
func (a account) target(ref *reference, s scope, r *referents, on side, v cty.Value) error {
	text, err := s.textOf(ref.ids, v)
	if errors.Is(err, ErrNull) || err == nil && text == "" {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := a.locate(a.pack.resources[ref.target], text)
	if err != nil {
		return err
	}
	if !containsChain(r.targets[on], c) {
		r.targets[on] = append(r.targets[on], c)
	}
	return nil
}

// elements are the ids in a value: one, or those of a collection.
func elements(v cty.Value) ([]cty.Value, error) {
	bare, _ := v.Unmark()
	if bare.IsKnown() && bare.IsNull() {
		return nil, nil
	}
	if v.IsMarked() {
		return nil, ErrSensitive
	}
	if !v.IsKnown() {
		return nil, ErrUnknown
	}
	ty := v.Type()
	if ty.IsListType() || ty.IsSetType() || ty.IsTupleType() {
		return v.AsValueSlice(), nil
	}
	return []cty.Value{v}, nil
}
