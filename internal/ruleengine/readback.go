// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// Target is how a provider is asked for an object: ImportResourceState with
// ImportID as a resource of the type, then ReadResource.
type Target struct {
	// Provider is the source address of the provider that was given.
	Provider string
	Type     string
	ImportID string
}

// UnreadableError says why an object cannot be read back by its node.
type UnreadableError struct {
	Node graph.NodeID
	// Reason is a clause without a full stop.
	Reason string
	// Err is what is behind the reason; nil for nothing.
	Err error
}

// Error names the node and the reason.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s cannot be read back: %s", e.Node, e.Reason)
}

// Unwrap returns what is behind the reason.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ReadBack says how a configured provider reads the object of a node, such as
// the object of a call whose outcome was lost, or the owner of a bucket. Only
// the node's id, kind and type are used.
//
// The error is a *UnreadableError when the node stands for no object with an
// id, when no pack knows the type, when the object is in another account than
// the provider works in, or when it cannot be imported; another configuration
// of the provider may then be able to. It is a *RealmError when it is not clear
// in which account the provider works.
func (e *Engine) ReadBack(provider string, config cty.Value, node graph.Decl) (Target, error) {
	if err := readable(node); err != nil {
		return Target{}, err
	}
	p, r := e.find(provider, node.Type)
	if r == nil {
		return Target{}, cannotRead(node, fmt.Sprintf("no rule of provider %s knows the type %q", provider, node.Type), nil)
	}
	a, err := e.account(p, provider, config)
	if err != nil {
		return Target{}, err
	}
	id, err := a.importID(r, node)
	if err != nil {
		return Target{}, err
	}
	return Target{Provider: provider, Type: r.name, ImportID: id}, nil
}

// readable checks that the node stands for an object whose id is known.
func readable(node graph.Decl) error {
	switch {
	case node.Kind == graph.Name || node.Kind == graph.Pending:
		return cannotRead(node, "its id is not known, because the cloud chooses it", ErrUnknown)
	case node.Kind != graph.Resource:
		return cannotRead(node, fmt.Sprintf("it is a %s and no object", node.Kind), nil)
	case node.Type == "":
		return cannotRead(node, "its type is not known", nil)
	default:
		return nil
	}
}

func cannotRead(node graph.Decl, reason string, err error) error {
	return &UnreadableError{Node: node.ID, Reason: reason, Err: err}
}

// importID evaluates what the provider imports the object by. The id came from
// elsewhere, so it has to be one that the rule places where it says it is.
func (a account) importID(r *resource, node graph.Decl) (string, error) {
	id, ok := a.cloudID(node.ID)
	if !ok {
		return "", cannotRead(node, "it is in another account than the provider works in", nil)
	}
	if c, err := a.locate(r, id); err != nil || c[0].ID != node.ID {
		return "", cannotRead(node, fmt.Sprintf("its id is not one of a %s", r.name), err)
	}
	if r.importID == nil {
		return id, nil
	}
	text, err := a.blind(r).with(rootID, cty.StringVal(id)).text(r.importID)
	switch {
	case errors.Is(err, ErrNull):
		return "", cannotRead(node, fmt.Sprintf("a %s cannot be imported", r.name), err)
	case err != nil:
		return "", cannotRead(node, err.Error(), err)
	case checkID(text) != nil:
		return "", cannotRead(node, fmt.Sprintf("its import id is %v", checkID(text)), checkID(text))
	default:
		return text, nil
	}
}
