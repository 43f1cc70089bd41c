// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// subject is an operation's own object.
type subject struct {
	position
	self graph.Decl
	// id is the object's id as far as it is known; maybe only its beginning.
	id cty.Value
	// derived is true when self is the object's own id, not a name or pending
	// node that stands for it.
	derived bool
	// nameless is why not even the object's name is known; nil when it is.
	nameless error
}

// chain is the object and what contains it, as far as that is known.
func (s subject) chain() chain { return append(chain{s.self}, s.above...) }

// identify finds the node of an operation's own object: its id where that can
// be told, else its name within its parent, else a pending node.
func (a account) identify(r *resource, op Operation, s scope) (subject, error) {
	id, text, err := a.ownID(r, op, s)
	if err != nil {
		return subject{}, err
	}
	p, err := a.climb(r, id, s)
	if err != nil {
		return subject{}, err
	}
	var sub subject
	if text != "" && p.missing == 0 {
		sub, err = a.byID(r, p, text)
	} else {
		sub, err = a.byName(r, p, op, s)
	}
	sub.id = id
	return sub, err
}

// ownID evaluates the object's id; text is empty when the id is not known.
func (a account) ownID(r *resource, op Operation, s scope) (id cty.Value, text string, err error) {
	if r.knownAfterCreate && op.Action == admission.Create {
		return cty.UnknownVal(cty.String), "", nil
	}
	id, err = s.value(r.id)
	if err != nil {
		return id, "", err
	}
	text, err = s.textOf(r.id, id)
	switch {
	case err == nil:
		return cty.StringVal(text), text, nil
	case errors.Is(err, ErrNull), errors.Is(err, ErrUnknown) && id.Type() != cty.String:
		return cty.UnknownVal(cty.String), "", nil
	case withheld(err):
		return id, "", nil
	default:
		return id, "", err
	}
}

func (a account) byID(r *resource, p position, text string) (subject, error) {
	node, err := a.node(text)
	if err != nil {
		return subject{}, fmt.Errorf("id of %s: %w", r.name, err)
	}
	c, err := p.below(graph.Decl{ID: node, Kind: graph.Resource, Type: r.name})
	if err != nil {
		return subject{}, err
	}
	return subject{position: p, self: c[0], derived: true}, nil
}

func (a account) byName(r *resource, p position, op Operation, s scope) (subject, error) {
	sub := subject{position: p, self: graph.Decl{Parent: p.above[0].ID, Type: r.name}}
	name, err := a.ownName(r, s)
	switch {
	case err == nil && p.missing == 0:
		sub.self.Kind = graph.Name
		sub.self.ID = graph.NameOf(p.above[0].ID, r.name, name)
		return sub, nil
	case err == nil || withheld(err) || errors.Is(err, ErrNull):
		sub.nameless = err
		sub.self.Kind = graph.Pending
		sub.self.ID = pending(op)
		return sub, nil
	default:
		return subject{}, err
	}
}

// ownName is the object's name in canonical spelling.
func (a account) ownName(r *resource, s scope) (string, error) {
	if r.label == nil {
		return "", ErrNull
	}
	name, err := s.text(r.label)
	if err != nil {
		return "", err
	}
	return a.canonical(name)
}

// pending is the node of an object of which only the operation is known. Where
// the address is not known either, the planned values stand for it: operations
// that cannot be told apart then wait for one another.
func pending(op Operation) graph.NodeID {
	session, address := op.Session, op.Address
	if session == "" {
		session = "-"
	}
	if address == "" {
		address = "?" + op.Type + "/" + digest(op.Planned, op.Sensitive)
	}
	return graph.PendingOf(session, escape(address))
}

// SelfID returns the node of the object that state describes, and what
// contains it, nearest first and the realm last. The operation says which
// provider and type it is; it is what a caller binds a name or pending node to
// once the cloud has chosen the id. The error is ErrUnknown when state has no
// usable id.
func (e *Engine) SelfID(op Operation, state cty.Value) (graph.Decl, []graph.Decl, error) {
	op.Planned, op.Prior, op.Action = state, state, admission.Update
	p, r := e.find(op.Provider, op.Type)
	if r == nil {
		return unruledID(op)
	}
	a, err := e.account(p, op.Provider, op.ProviderConfig)
	if err != nil {
		return graph.Decl{}, nil, err
	}
	sub, err := a.identify(r, op, a.observer(r, op))
	if err != nil {
		return graph.Decl{}, nil, err
	}
	if !sub.derived {
		return graph.Decl{}, nil, fmt.Errorf("id of %s: %w", op.Type, ErrUnknown)
	}
	return sub.self, sub.above, nil
}

// observer is the scope of rules about an operation: self is what is planned,
// or what was there before a delete.
func (a account) observer(r *resource, op Operation) scope {
	prior, planned := mark(op.Prior, op.Sensitive), mark(op.Planned, op.Sensitive)
	self := planned
	if op.Action == admission.Delete {
		self = prior
	}
	s := a.scope.with(rootSelf, self).with(rootPrior, prior).with(rootPlanned, planned).
		with(rootAction, cty.StringVal(string(op.Action)))
	s.rule = r.name
	return s
}

// digest identifies a value without its sensitive parts.
func digest(v cty.Value, paths cty.PathSet) string {
	h := sha256.New()
	writeCanonical(h, nil, v, pathPatterns(paths))
	return hex.EncodeToString(h.Sum(nil))
}

// Digest identifies the attributes of an object: the SHA-256, in hexadecimal,
// of its state in canonical form, sensitive and null parts left out, and so are
// attributes that a rule calls volatile, whichever type it is that has them. Two
// reads of an unchanged object have the same digest.
func (e *Engine) Digest(state cty.Value, sensitive cty.PathSet) string {
	return digest(e.lasting(state), sensitive)
}

// lasting is a state without its volatile attributes.
func (e *Engine) lasting(state cty.Value) cty.Value {
	if state == cty.NilVal || state.IsMarked() || !state.IsKnown() || state.IsNull() || !state.Type().IsObjectType() {
		return state
	}
	attrs := state.AsValueMap()
	maps.DeleteFunc(attrs, func(name string, _ cty.Value) bool { return e.volatile[name] })
	return cty.ObjectVal(attrs)
}

// volatile are the volatile attributes of all types.
func volatile(packs []*pack) map[string]bool {
	names := map[string]bool{}
	for _, p := range packs {
		for _, r := range p.resources {
			for _, name := range r.volatile {
				names[name] = true
			}
		}
	}
	return names
}

// CloudID returns the id of an operation's object in the spelling that its rule
// gives it, if it can be told before the object is made.
func (e *Engine) CloudID(op Operation) (string, bool) {
	p, r := e.find(op.Provider, op.Type)
	if r == nil {
		return "", false
	}
	a, err := e.account(p, op.Provider, op.ProviderConfig)
	if err != nil {
		return "", false
	}
	_, id, err := a.ownID(r, op, a.observer(r, op))
	return id, err == nil && id != ""
}
