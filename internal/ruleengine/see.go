// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// See turns an object that a provider read into an observation: its node, what
// contains it, what it refers to and a digest of its attributes. ok is false
// when the object has no id that can be told, or exists only in Terraform's
// state. Edges are nil when the rule does not know all references, which is
// also the case for types without a rule.
func (e *Engine) See(o Object) (seen Seen, ok bool, err error) {
	p, r := e.find(o.Provider, o.Type)
	op := Operation{
		Provider: o.Provider, ProviderConfig: o.ProviderConfig, Type: o.Type, Address: o.Address,
		Action: admission.Read, Prior: o.State, Planned: o.State, Sensitive: o.Sensitive,
	}
	if o.State == cty.NilVal || o.State.IsNull() || r == nil && Logical(o.Provider) {
		return Seen{}, false, nil
	}
	if r == nil {
		seen, ok, err = seeUnruled(op, o)
	} else {
		seen, ok, err = e.seeRuled(p, r, op, o)
	}
	if ok && !o.Gone {
		seen.Observation.Digest = e.Digest(o.State, o.Sensitive)
	}
	return seen, ok, err
}

func (e *Engine) seeRuled(p *pack, r *resource, op Operation, o Object) (Seen, bool, error) {
	a, err := e.account(p, o.Provider, o.ProviderConfig)
	if err != nil {
		return Seen{}, false, err
	}
	return a.see(r, op, o)
}

func (a account) see(r *resource, op Operation, o Object) (Seen, bool, error) {
	s := a.observer(r, op)
	sub, err := a.identify(r, op, s)
	if err != nil || !sub.derived {
		return Seen{}, false, err
	}
	s = s.with(rootID, sub.id)
	var nodes declarations
	seen := Seen{Observation: observation(sub.self, o), Terminal: true}
	nodes.add(sub.chain())
	if !o.Gone {
		if seen.Observation.Edges, err = a.references(r, s, sub.self.ID, &nodes); err != nil {
			return Seen{}, false, err
		}
		a.progress(r, s, &seen)
		a.readings(r, s, &seen)
	}
	seen.Nodes = nodes.list
	return seen, true, nil
}

// references are the object's own references, nil when they are not all known.
func (a account) references(r *resource, s scope, self graph.NodeID, nodes *declarations) ([]graph.Edge, error) {
	if !r.refers() {
		return nil, nil
	}
	var refs []referents
	for _, ref := range r.references {
		found := referents{rule: ref}
		if err := a.refer(ref, s, &found, after, func(error) {}); err != nil {
			return nil, err
		}
		for _, c := range found.targets[after] {
			nodes.add(c)
		}
		refs = append(refs, found)
	}
	edges, complete := edgesOf(self, refs)
	if !complete {
		return nil, nil
	}
	return edges, nil
}

func seeUnruled(op Operation, o Object) (Seen, bool, error) {
	self, above, err := unruledID(op)
	if errors.Is(err, ErrUnknown) {
		return Seen{}, false, nil
	}
	if err != nil {
		return Seen{}, false, err
	}
	var nodes declarations
	nodes.add(append(chain{self}, above...))
	return Seen{Nodes: nodes.list, Observation: observation(self, o), Terminal: true}, true, nil
}

func observation(self graph.Decl, o Object) admission.Observation {
	return admission.Observation{Decl: self, Exists: !o.Gone, Address: o.Address}
}
