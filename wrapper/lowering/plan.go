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
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

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
	// MadeAt is when the plan was made, to the second; zero where it does not say.
	MadeAt time.Time
	// Applyable is false when there is nothing to apply, not even a new output.
	Applyable bool
	// Changes are what the plan does in one word, such as "create" or "replace", to
	// which address; that of an output is "output.NAME".
	Changes map[string]string

	steps []*step
	byKey map[stepKey]*group
	// blocks are the provider blocks of the configuration, by their key; configs
	// are the configurations that a provider was given so far.
	blocks  map[string]*block
	configs func(provider string) []cty.Value

	mu sync.Mutex // guards sure and taken of the steps, and succeeded
	// succeeded are the calls that may have; nil while nobody has told of any.
	succeeded map[admission.CallID]bool
}

// stepKey is what a call and its change have in common at least.
type stepKey struct {
	provider, resourceType string
	action                 admission.Action
}

func (p *Plan) add(s *step) {
	s.number = len(p.steps)
	p.steps = append(p.steps, s)
	key := stepKey{s.op.Provider, s.op.Type, s.op.Action}
	g := p.byKey[key]
	if g == nil {
		g = &group{byText: map[string][]*class{}, byID: map[string][]*step{}}
		p.byKey[key] = g
	}
	g.add(s)
}

// step is one provider call that the plan foresees: a replace has two.
type step struct {
	number int // in the plan
	id     admission.CallID
	op     ruleengine.Operation
	// address is that of the resource instance, deposed the key of a deposed
	// object of it.
	address, deposed string
	// group holds the calls of one intent together; after are those of them
	// that come first.
	group string
	after []admission.CallID
	// awaited: it is one that another step comes after.
	awaited bool
	// provisioned: provisioners may run with the call.
	provisioned bool
	// planned is the planned state as Terraform knows it; that of op knows more
	// where resolved is true.
	planned  cty.Value
	resolved bool
	// block is the provider block that the resource uses, nil when it cannot be
	// told.
	block *block
	// likeness is equal for steps whose values are equal.
	likeness [sha256.Size]byte
	module   string // address of the module, empty for the root
	local    string // address within the module, without instance keys
	index    any    // instance key, nil for none
	taken    bool   // a call was matched with it
	sure     bool   // that call can be no other
}

// Read reads the output of "terraform show -json PLANFILE"; see ReadFrom.
func Read(ctx context.Context, planJSON []byte, from Sources) (*Plan, error) {
	return ReadFrom(ctx, bytes.NewReader(planJSON), from)
}

// ReadFrom reads what "terraform show -json PLANFILE" prints while it prints it.
// It keeps only what belongs to calls.
//
// Sensitive values are in a plan in clear: they stay in this process, and
// operations name their paths. Errors wrap ErrPlan and never quote the plan.
func ReadFrom(ctx context.Context, planJSON io.Reader, from Sources) (*Plan, error) {
	draft, err := ReadDraft(ctx, planJSON, from)
	if err != nil {
		return nil, err
	}
	return draft.Plan(), nil
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
