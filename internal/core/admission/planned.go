// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// CallID names a call within its plan.
type CallID = escrow.CallID

// Planned is one call of an approved plan, as far as others have to know of it
// before it is sent.
type Planned struct {
	ID     CallID       `json:"id"`
	Self   graph.NodeID `json:"self"`
	Action Action       `json:"action"`
	// Address is Terraform's.
	Address string    `json:"address,omitempty"`
	Locks   lock.Plan `json:"locks,omitempty"`
	// Guards are judged when the claim that the call belongs to is admitted, as
	// far as they can be known then: Present and SameLife.
	Guards  []Guard        `json:"guards,omitempty"`
	Effects escrow.Effects `json:"effects,omitempty"`
	// After are the calls of the plan that must have succeeded before this one
	// is sent, sorted.
	After []CallID `json:"after,omitempty"`
	// Group holds calls together that are one intent, such as the two of a
	// replace: none is sent before what all of them need is held, and none
	// when another one is known to fail. Empty for a call by itself.
	Group string `json:"group,omitempty"`
}

// validatePlan checks the calls of a reservation.
func (s *State) validatePlan(r *Request, placed placement) error {
	if len(r.Calls) > escrow.MaxCalls {
		return fmt.Errorf("%w: a plan of %d calls", ErrMalformed, len(r.Calls))
	}
	for i, c := range r.Calls {
		if c.ID == "" || i > 0 && r.Calls[i-1].ID >= c.ID {
			return fmt.Errorf("%w: call %q is out of order or named twice", ErrMalformed, c.ID)
		}
		if err := placed.planned(c); err != nil {
			return fmt.Errorf("call %q: %w", c.ID, err)
		}
	}
	p := newPlan(r)
	for i, c := range r.Calls {
		if len(p.after[i]) != len(c.After) {
			return fmt.Errorf("%w: call %q comes after one that the plan does not have", ErrMalformed, c.ID)
		}
	}
	if p.circular() {
		return fmt.Errorf("%w: calls of the plan that wait for each other", ErrMalformed)
	}
	_, err := orderOf(r, p)
	return err
}

// circular says whether a call comes after itself.
func (p *plan) circular() bool {
	const (
		unseen = iota
		open
		closed
	)
	state := make([]byte, len(p.calls))
	var visit func(i int) bool
	visit = func(i int) bool {
		if state[i] != unseen {
			return state[i] == open
		}
		state[i] = open
		if slices.ContainsFunc(p.after[i], visit) {
			return true
		}
		state[i] = closed
		return false
	}
	for i := range p.calls {
		if visit(i) {
			return true
		}
	}
	return false
}

// planned checks one call of a plan.
func (p placement) planned(c Planned) error {
	switch c.Action {
	case Create, Update, Delete, Read:
	default:
		return fmt.Errorf("%w: action %q", ErrMalformed, c.Action)
	}
	if err := p.named(c.Self, c.Locks, c.Guards); err != nil {
		return err
	}
	if err := c.Locks.Validate(p.parent); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	for i, a := range c.After {
		if i > 0 && c.After[i-1] >= a {
			return fmt.Errorf("%w: after %q out of order", ErrMalformed, a)
		}
	}
	if err := validGuards(c.Guards); err != nil {
		return err
	}
	return c.Effects.Validate()
}
