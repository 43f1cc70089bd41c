// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package ruleengine turns one operation on one resource into what it means
// to the cloud: which nodes it touches and how, what it refers to, and under
// which conditions it may run. The meaning comes from rule packs, which are
// data (HCL); the engine holds no knowledge of any provider.
//
// A type without a rule takes only its own object or name.
package ruleengine

import (
	"context"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// Operation is one provider call in neutral form. Unknown values are unknown,
// absent ones null.
type Operation struct {
	// Provider is the full source address of the provider.
	Provider string
	// ProviderConfig is the provider's configuration; null when not known.
	ProviderConfig cty.Value
	Type           string
	Action         admission.Action
	// Address is the Terraform address; empty when not known.
	Address string
	// Prior is the state before (null for a create), Planned the state that
	// is wanted (null for a delete).
	Prior, Planned cty.Value
	// Sensitive holds the paths that must not leave this process in clear.
	Sensitive cty.PathSet
}

// Graph answers what rules ask about the live graph.
type Graph interface {
	// Neighbours returns the nodes that id refers to (out) or that refer to it
	// (in) by edges of a kind, and the version of id that the answer belongs
	// to. known is false when the graph has never seen id.
	Neighbours(ctx context.Context, id graph.NodeID, kind graph.EdgeKind, out bool) (ids []graph.Decl, version uint64, known bool, err error)
}

// Lowered is an operation as the coordinator wants it.
type Lowered struct {
	// Request lacks Session, Intent and Key, which the caller adds.
	Request admission.Request
	// Ruled is false when no rule knew the type.
	Ruled bool
	// Notes say what was not known and how the plan was widened for it.
	Notes []string
}

// Seen is an object as a read showed it.
type Seen struct {
	Nodes       []graph.Decl
	Observation admission.Observation
}

// The engine's methods, over the other files of this package:
//
//	LoadPacks(fsys ...fs.FS) (*Engine, hcl.Diagnostics)     every *.hcl below each root folder is one pack
//	(*Engine) Lower(ctx, Operation, Graph) (Lowered, error)
//	(*Engine) See(Operation-like: provider, config, type, state value) (Seen, bool, error)   identity, parents, references of a read object; false when it has no derivable id
//	(*Engine) SelfID(Operation, state cty.Value) (graph.Decl, []graph.Decl, error)           id after create, for Bind
//	(*Engine) Covers(provider, type string) bool
//	(*Engine) Digest(state cty.Value, sensitive cty.PathSet) string                           keyed? plain SHA-256 of the canonical value, sensitive paths left out
//	(*Engine) Doc(rule string) string                                                          one sentence for rule_doc in reports
