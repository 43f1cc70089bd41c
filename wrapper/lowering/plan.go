// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package lowering turns what Terraform says it will do, or is about to do,
// into neutral operations for the rule engine: a whole plan for the forecast,
// and single provider calls as the proxy decodes them.
//
// The plugin protocol carries no resource addresses. A [Plan] knows them, and
// gives each call the address of the change that it belongs to by comparing
// values.
//
// Nor does a plan say in which order its calls will run. The graph that the CLI
// makes of it does, and [Plan.Order] reads that: what must be held together from
// the first call on depends on it.
package lowering

import (
	"context"
	"errors"
	"fmt"
	"sync"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// ErrPlan says that a plan could not be read.
var ErrPlan = errors.New("the plan cannot be read")

// Sources is what a plan does not say of itself. Each function may be nil.
type Sources struct {
	// Schema returns the schema of a resource type. Where it fails, values have
	// the types that their JSON form suggests.
	Schema func(ctx context.Context, provider, resourceType string) (*intercept.Schema, error)
	// Configs returns the distinct configurations that a provider was given.
	Configs func(provider string) []cty.Value
	// CloudID returns the id that the object of an operation will have, in the
	// cloud's own spelling, if it can be told before it is made.
	CloudID func(op ruleengine.Operation) (id string, ok bool)
}

// Plan is the changes of a Terraform plan. It is safe for concurrent use.
type Plan struct {
	steps []*step
	byKey map[stepKey][]*step

	mu sync.Mutex // guards done of the steps, and succeeded
	// succeeded are the calls that have; nil while nobody has told of any.
	succeeded map[admission.CallID]bool
}

// stepKey is what a call and its change have in common at least.
type stepKey struct {
	provider, resourceType string
	action                 admission.Action
}

func (p *Plan) add(steps []*step) {
	for _, s := range steps {
		p.steps = append(p.steps, s)
		key := stepKey{s.op.Provider, s.op.Type, s.op.Action}
		p.byKey[key] = append(p.byKey[key], s)
	}
}

// step is one provider call that the plan foresees: a replace has two.
type step struct {
	id admission.CallID
	op ruleengine.Operation
	// address is that of the resource instance, deposed the key of a deposed
	// object of it.
	address, deposed string
	// group holds the calls of one intent together; after are those of them
	// that come first.
	group string
	after []admission.CallID
	// provisioned: provisioners may run with the call.
	provisioned bool
	// planned is the planned state as Terraform knows it; that of op may know
	// more.
	planned cty.Value
	// print is what a call's deciding state must have at least.
	print  fingerprint
	module string // address of the module, empty for the root
	local  string // address within the module, without instance keys
	index  any    // instance key, nil for none
	done   bool   // a call was matched with it
}

// Read reads the output of "terraform show -json PLANFILE".
//
// Sensitive values are in a plan in clear: they stay in this process, and
// operations name their paths. Errors wrap ErrPlan and never quote the plan.
func Read(ctx context.Context, planJSON []byte, from Sources) (*Plan, error) {
	var raw tfjson.Plan
	raw.UseJSONNumber(true)
	if err := raw.UnmarshalJSON(planJSON); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	r := reader{from: from, raw: &raw, schemas: map[[2]string]*intercept.Schema{}}
	p := &Plan{byKey: map[stepKey][]*step{}}
	for _, change := range raw.ResourceChanges {
		steps, err := r.steps(ctx, change)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPlan, err)
		}
		p.add(steps)
	}
	bind(p.steps)
	r.resolve(p.steps)
	return p, nil
}

// Operations are all calls that the plan foresees, each with its address. They
// are in the plan's order, which is not the order they will run in, except that
// the two calls of a replace follow each other as they will.
func (p *Plan) Operations() []ruleengine.Operation {
	ops := make([]ruleengine.Operation, len(p.steps))
	for i, s := range p.steps {
		ops[i] = s.op
	}
	return ops
}

// reader turns the parts of a plan into steps.
type reader struct {
	from    Sources
	raw     *tfjson.Plan
	schemas map[[2]string]*intercept.Schema
}

// steps are the calls that one change needs; none for data sources and for
// changes that stay in Terraform's state.
func (r *reader) steps(ctx context.Context, change *tfjson.ResourceChange) ([]*step, error) {
	if change == nil || change.Change == nil {
		return nil, nil
	}
	actions := callsOf(change.Change.Actions)
	if len(actions) == 0 {
		return nil, nil
	}
	values, err := r.values(ctx, change)
	if err != nil {
		return nil, fmt.Errorf("values of %s: %w", change.Address, err)
	}
	var steps []*step
	for _, action := range actions {
		steps = append(steps, r.step(change, action, values))
	}
	return steps, nil
}

// callsOf are the calls that change the cloud among the actions of a change.
func callsOf(actions tfjson.Actions) []admission.Action {
	var calls []admission.Action
	for _, a := range actions {
		switch a {
		case tfjson.ActionCreate:
			calls = append(calls, admission.Create)
		case tfjson.ActionUpdate:
			calls = append(calls, admission.Update)
		case tfjson.ActionDelete:
			calls = append(calls, admission.Delete)
		}
	}
	return calls
}

func (r *reader) step(change *tfjson.ResourceChange, action admission.Action, v values) *step {
	op := ruleengine.Operation{
		Provider: change.ProviderName, ProviderConfig: r.config(change), Type: change.Type,
		Action: action, Address: address(change), Prior: v.before, Planned: v.after, Sensitive: v.sensitive,
	}
	switch action {
	case admission.Create:
		op.Prior = cty.NullVal(v.ty)
	case admission.Delete:
		op.Planned = cty.NullVal(v.ty)
	}
	local := change.Type + "." + change.Name
	return &step{
		id: callID(action, change.Address, change.DeposedKey), op: op,
		address: change.Address, deposed: change.DeposedKey,
		provisioned: action != admission.Update && r.provisioned(change.ModuleAddress, local),
		planned:     op.Planned, print: fingerprintOf(deciding(action, op.Prior, op.Planned)),
		module: change.ModuleAddress, local: local, index: change.Index,
	}
}

// provisioned says whether a resource has provisioners, of whatever kind.
func (r *reader) provisioned(module, local string) bool {
	resource := r.configured(module, local)
	return resource != nil && len(resource.Provisioners) > 0
}

// address is the address of a change as Terraform prints it; a deposed object
// has none of its own.
func address(change *tfjson.ResourceChange) string {
	if change.DeposedKey != "" {
		return change.Address + " (deposed object " + change.DeposedKey + ")"
	}
	return change.Address
}

// schema is the schema of a change's type, nil when it is not known.
func (r *reader) schema(ctx context.Context, change *tfjson.ResourceChange) *intercept.Schema {
	key := [2]string{change.ProviderName, change.Type}
	if s, asked := r.schemas[key]; asked || r.from.Schema == nil {
		return s
	}
	s, err := r.from.Schema(ctx, change.ProviderName, change.Type)
	if err != nil {
		s = nil
	}
	r.schemas[key] = s
	return s
}
