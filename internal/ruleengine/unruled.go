// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/zclconf/go-cty/cty"
)

// unruledRule names the rule of types without a rule in reports.
const unruledRule = "unruled/own_object"

// Logical says whether the objects of a provider exist only in Terraform's
// state or on the machine it runs on, so that nobody else can be in their way.
func Logical(provider string) bool {
	parts := strings.Split(provider, "/")
	switch namespace := parts[max(0, len(parts)-2)]; namespace {
	case "hashicorp":
		return slices.Contains([]string{"random", "tls", "time", "null", "local"}, parts[len(parts)-1])
	case "builtin":
		return parts[len(parts)-1] == "terraform"
	default:
		return false
	}
}

// lowerUnruled takes only the object itself.
func lowerUnruled(op Operation) (Lowered, error) {
	request := admission.Request{Address: op.Address, Type: op.Type, Action: op.Action, KeepEdges: true}
	if Logical(op.Provider) {
		return Lowered{Request: request, Logical: true}, nil
	}
	state := op.Planned
	if op.Action == admission.Delete {
		state = op.Prior
	}
	c, err := unruledChain(op, state)
	if err != nil {
		return Lowered{}, err
	}
	var nodes declarations
	m := mode.X
	if op.Action == admission.Read {
		m = mode.S
	}
	request.Self = nodes.add(c)
	request.Nodes = nodes.list
	request.Locks = lock.Close([]lock.Want{{
		Node: request.Self, Mode: m, Relation: lock.Same, Rule: unruledRule, Class: ownClass(op.Action),
	}}, nodes.parent)
	return Lowered{Request: request, Notes: []string{"no rule knows " + op.Type + ": only the object itself is taken"}}, nil
}

// unruledChain is the node of an object without a rule, below a realm that
// stands for all accounts of its provider: by its id attribute, else by its
// address.
func unruledChain(op Operation, state cty.Value) (chain, error) {
	if op.Provider == "" || op.Type == "" {
		return nil, fmt.Errorf("%w: an operation names its provider and its resource type", ErrIdentity)
	}
	realm := graph.Decl{ID: graph.NodeID(op.Provider), Kind: graph.Realm, Type: "provider"}
	d := graph.Decl{Parent: realm.ID, Kind: graph.Resource, Type: op.Type}
	id, ok := idAttribute(mark(state, op.Sensitive))
	if ok && checkID(id) == nil {
		d.ID = realm.ID + graph.NodeID("/"+op.Type+"/"+escape(id))
	} else {
		d.Kind, d.ID = graph.Pending, pending(op)
	}
	return chain{d, realm}, nil
}

// idAttribute is the id attribute of a state, if it has a usable one.
func idAttribute(state cty.Value) (string, bool) {
	bare, marks := state.Unmark()
	if len(marks) > 0 || !bare.IsKnown() || bare.IsNull() || !bare.Type().IsObjectType() || !bare.Type().HasAttribute("id") {
		return "", false
	}
	v, err := usable(bare.GetAttr("id"))
	if err != nil || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// unruledID is SelfID for a type without a rule.
func unruledID(op Operation) (graph.Decl, []graph.Decl, error) {
	c, err := unruledChain(op, op.Planned)
	if err != nil {
		return graph.Decl{}, nil, err
	}
	if c[0].Kind == graph.Pending {
		return graph.Decl{}, nil, fmt.Errorf("id of %s: %w", op.Type, ErrUnknown)
	}
	return c[0], c[1:], nil
}
