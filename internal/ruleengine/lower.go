// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/zclconf/go-cty/cty"
)

// Lower turns an operation into what it asks of the coordinator. g may be nil:
// rules that ask the live graph are then left out and noted.
//
// The error is a *RealmError when it is not clear in which account the
// provider works, a *EvalError when a rule fails on the values; both are about
// this operation alone, and no call may be sent on them.
func (e *Engine) Lower(ctx context.Context, op Operation, g Graph) (Lowered, error) {
	if !slices.Contains(actions(), op.Action) {
		return Lowered{}, fmt.Errorf("operation on %s %s: unknown action %q", op.Type, op.Address, op.Action)
	}
	op = op.normal()
	p, r := e.find(op.Provider, op.Type)
	if r == nil {
		return lowerUnruled(op)
	}
	a, err := e.account(p, op.Provider, op.ProviderConfig)
	if err != nil {
		return Lowered{}, err
	}
	d := &draft{account: a, rule: r, op: op, scope: a.observer(r, op), graph: g}
	if err := d.lower(ctx); err != nil {
		return Lowered{}, fmt.Errorf("%s of %s: %w", op.Action, describe(op), err)
	}
	return d.done(), nil
}

// normal is the operation without a state that its action does not have.
func (op Operation) normal() Operation {
	switch op.Action {
	case admission.Create:
		op.Prior = cty.NullVal(cty.DynamicPseudoType)
	case admission.Delete:
		op.Planned = cty.NullVal(cty.DynamicPseudoType)
	}
	return op
}

func describe(op Operation) string {
	if op.Address != "" {
		return op.Address
	}
	return op.Type
}

// draft is a request while it is being put together.
type draft struct {
	account
	rule  *resource
	op    Operation
	scope scope
	graph Graph

	subject subject
	refs    []referents
	// firm is what the request asks for, low what it would ask for in addition
	// if rules of low confidence counted.
	firm, low part
	buckets   []Bucket
	request   admission.Request
	notes     []string
}

// part is where the findings of a rule belong.
func (d *draft) part(m meta) *part {
	if m.low {
		return &d.low
	}
	return &d.firm
}

func (d *draft) lower(ctx context.Context) error {
	var err error
	if d.subject, err = d.identify(d.rule, d.op, d.scope); err != nil {
		return err
	}
	d.firm.nodes.add(d.subject.chain())
	d.own()
	d.widen()
	if d.op.Action != admission.Read {
		if err := d.references(); err != nil {
			return err
		}
	}
	d.defaultGuards()
	if err := d.event(ctx); err != nil {
		return err
	}
	if err := d.capacity(); err != nil {
		return err
	}
	return d.edges(ctx)
}

func (d *draft) done() Lowered {
	r := d.request
	r.Address, r.Type, r.Action = d.op.Address, d.op.Type, d.op.Action
	r.Self = d.subject.self.ID
	r.Nodes = d.firm.nodes.list
	r.Locks = d.firm.locks()
	r.Guards = d.firm.guards
	if len(d.firm.effects) > 0 {
		r.Effects = escrow.Collect(d.firm.effects...)
	}
	t := d.rule.times.or(d.pack.times)
	r.Lands, r.Timeout = t.lands, t.timeout
	return Lowered{Request: r, Ruled: true, Shadow: d.low.shadow(), Buckets: d.owners(r.Effects), Resized: d.resized(), Notes: d.notes}
}

func (d *draft) note(text string) {
	if !slices.Contains(d.notes, text) {
		d.notes = append(d.notes, text)
	}
}

// builtin names a default rule of the type for the action.
func (d *draft) builtin(name string) string {
	return ruleName(d.pack.name, d.rule.name, string(d.op.Action), name)
}

// own takes the object itself (P1, P3, P4), or the facet of it that the action
// writes; a stable read shares it (P2).
func (d *draft) own() {
	node, m := d.subject.self.ID, mode.X
	if d.op.Action == admission.Read {
		m = mode.S
	}
	if ev := d.rule.events[d.op.Action]; ev != nil && ev.writes != "" {
		node = d.firm.nodes.facet(node, ev.writes)
	}
	relation := lock.Same
	if d.subject.self.Kind == graph.Name {
		relation = lock.Named
	}
	d.firm.want(node, m, relation, d.builtin(partSelf), ownClass(d.op.Action))
}

// ownClass is what goes wrong when two operations on one object meet.
func ownClass(a admission.Action) string {
	switch a {
	case admission.Create:
		return className
	case admission.Update:
		return classLostUpdate
	default:
		return classInFlight
	}
}

// widen takes the nearest known ancestor when the parent is not known: whatever
// the operation turns out to touch lies below it.
func (d *draft) widen() {
	p := d.subject.position
	if p.missing == 0 {
		if why := d.subject.nameless; why != nil {
			d.note(fmt.Sprintf("neither the id nor the name can be told (%v): only the parent is announced", why))
		}
		return
	}
	node := d.firm.nodes.facet(p.above[0].ID, p.widen)
	d.firm.want(node, mode.X, lock.Rule, d.builtin(partWidened), classInFlight)
	d.note(fmt.Sprintf("the parent cannot be told (%v): %s is taken instead", p.why, node))
}

// references pins everything that the object refers to, before and after (P5).
func (d *draft) references() error {
	for _, ref := range d.rule.references {
		r := referents{rule: ref}
		note := func(why error) { d.note(fmt.Sprintf("reference %s is left out: %v", ref.name, why)) }
		for on, root := range sideRoots() {
			state := d.scope.vars[root]
			if absent(state) {
				continue
			}
			if err := d.refer(ref, d.scope.with(rootSelf, state), &r, side(on), note); err != nil {
				return err
			}
		}
		p := d.part(ref.meta)
		for _, c := range r.all() {
			node := p.nodes.add(c)
			for _, facet := range ref.facets {
				p.want(p.nodes.facet(node, facet), ref.mode, lock.Reference, ref.meta.rule, ref.meta.class)
			}
		}
		d.refs = append(d.refs, r)
	}
	return nil
}

func absent(state cty.Value) bool {
	bare, _ := state.Unmark()
	return bare.IsKnown() && bare.IsNull()
}

// defaultGuards: what an object needs must be there, and what is deleted must
// not be needed.
func (d *draft) defaultGuards() {
	switch d.op.Action {
	case admission.Delete:
		if d.subject.derived {
			d.firm.guard(admission.Guard{Kind: admission.Unreferenced, Node: d.subject.self.ID, Rule: d.builtin(partUnreferenced)})
		}
	case admission.Create, admission.Update:
		if up := d.subject.above[0]; d.subject.missing == 0 && up.Kind == graph.Resource {
			d.firm.guard(admission.Guard{Kind: admission.Present, Node: up.ID, Rule: d.builtin(partParent)})
		}
		for _, r := range d.refs {
			for _, c := range r.targets[after] {
				d.part(r.rule.meta).guard(admission.Guard{Kind: admission.Present, Node: c[0].ID, Rule: r.rule.meta.rule})
			}
		}
	}
}
