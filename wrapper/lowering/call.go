// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// PlannedCall is one provider call that a plan foresees.
type PlannedCall struct {
	// ID names the call within the plan: "delete simcloud_subnet.a", and for a
	// deposed object "delete simcloud_subnet.a (deposed 59be1a69)".
	ID admission.CallID
	// Operation is the call as the rule engine takes it.
	Operation ruleengine.Operation
	// Address is that of the resource instance, also for a deposed object;
	// Deposed is its key then.
	Address, Deposed string
	// Group is common to the calls that are one intent: the two of a replace,
	// and the delete of a deposed object whose replacement the same plan makes.
	// It is their address, and empty for a call by itself.
	Group string
	// Provisioned is true when provisioners may run with the call, outside of
	// it. A plan does not say which of the resource's provisioners run when, so
	// that it is true for every create and delete of such a resource. It does not
	// tell of those in a "removed" block at all.
	Provisioned bool
}

// Calls are all calls that the plan foresees, in the order of Operations.
func (p *Plan) Calls() []PlannedCall {
	calls := make([]PlannedCall, len(p.steps))
	for i, s := range p.steps {
		calls[i] = PlannedCall{
			ID: s.id, Operation: s.op, Address: s.address, Deposed: s.deposed,
			Group: s.group, Provisioned: s.provisioned,
		}
	}
	return calls
}

// Provisioned are the addresses of the resource instances with a call beside
// which provisioners may run, sorted.
func (p *Plan) Provisioned() []string {
	var addresses []string
	for _, s := range p.steps {
		if s.provisioned {
			addresses = append(addresses, s.address)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// NeedsOrder says whether others have to know in which order the calls run:
// some of them belong together, delete a deposed object, or change a capacity.
// consumes tells the last of an operation; nil is for nobody.
func (p *Plan) NeedsOrder(consumes func(ruleengine.Operation) bool) bool {
	return slices.ContainsFunc(p.steps, func(s *step) bool {
		return s.group != "" || s.deposed != "" || consumes != nil && consumes(s.op)
	})
}

// callID names a call within its plan.
func callID(action admission.Action, address, deposed string) admission.CallID {
	id := string(action) + " " + address
	if deposed != "" {
		id += " (deposed " + deposed + ")"
	}
	return admission.CallID(id)
}

// bind finds the calls that belong together and what each of them comes after
// among those: the halves of a replace follow each other as the plan lists
// them, and a deposed object goes when its replacement is there.
func bind(steps []*step) {
	byAddress := map[string][]*step{}
	for _, s := range steps {
		byAddress[s.address] = append(byAddress[s.address], s)
	}
	for address, together := range byAddress {
		if i := slices.IndexFunc(together, isCreate); i >= 0 && len(together) > 1 {
			bindGroup(address, together, together[i])
		}
	}
}

func isCreate(s *step) bool { return s.op.Action == admission.Create }

func bindGroup(address string, together []*step, create *step) {
	var previous *step
	for _, s := range together {
		s.group = address
		switch {
		case s.deposed != "":
			s.comesAfter(create)
		case previous == nil:
			previous = s
		default:
			s.comesAfter(previous)
		}
	}
}

func (s *step) comesAfter(other *step) {
	s.after, other.awaited = []admission.CallID{other.id}, true
}
