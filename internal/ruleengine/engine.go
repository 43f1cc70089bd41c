// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package ruleengine turns one operation on one resource into what it means
// to the cloud: which nodes it touches and how, what it refers to, and under
// which conditions it may run. The meaning comes from rule packs, which are
// data (HCL); the engine holds no knowledge of any provider.
//
// A type without a rule takes only its own object or name.
//
// # The pack format
//
// A folder of *.hcl files is one pack. It has one pack block, which says for
// which provider it speaks and in which realm (account) a configured provider
// works, and one resource block per resource type:
//
//	pack "example" {
//	  version   = "1.0.0"
//	  provider  = "*/example/cloud"   # host/namespace/type, * is any one part
//	  canonical = lower(id)           # the spelling of ids that makes equal what is equal
//	  lands     = "2s"                # see admission.Request, for both
//	  timeout   = "30m"
//	  terminal  = contains(["Succeeded", "Failed"], self.state)
//
//	  realm {
//	    namespace = "example:${authority(coalesce(provider.endpoint, env("EXAMPLE_ENDPOINT")))}"
//	    id        = "/subscriptions/${local.subscription}"
//	    remedy    = "set endpoint in the provider block"
//	  }
//	}
//
//	error "full" {                    # what the provider's errors mean
//	  match    = ["SubnetIsFull"]     # or regex, or codes with error_code in the pack block
//	  class    = "capacity"
//	  definite = true                 # the call certainly had no effect
//	}
//
//	table "sizes" {                   # constants: table.sizes
//	  rows = { small = { cores = 2 } }
//	}
//
//	resource "example_subnet" {
//	  id   = first_known(self.id, arm_id(...))
//	  name = self.name
//	  parent "example_network" { id = arm_scope(id, "networks") }
//
//	  reference "gateway" { ids = self.gateway_id, type = "example_gateway" }   # one attribute per line
//
//	  bucket "addresses" { limit = usable_addresses(self.prefix, 5), use = self.used }
//
//	  consumes "place" {
//	    of     = parent
//	    bucket = "subnets"
//	    amount = 1
//	  }
//
//	  on "write" {
//	    target "slot" {
//	      node  = parent
//	      facet = "slot:write"
//	      mode  = "X"
//	    }
//	  }
//	}
//
// What a pack leaves out follows from the containment hierarchy: an operation
// takes X on its own object, intentions above it, and S on the life of
// everything it refers to; a create needs its parent and references present, a
// delete needs its object unreferenced.
//
// A resource block may also have import_id (over id; what ImportResourceState
// takes, the id itself if not said), volatile (attributes that change with other
// objects and are in no digest), and terminal, lands, timeout and error,
// which come before those of the pack. A rule with confidence = "low" asks for
// nothing: see [Shadow].
//
// Expressions see self (the planned state, for a delete the prior one),
// planned, prior, provider, action, local, realm, table and id; the functions
// are pure. Values that are not known yet, absent values and sensitive values are
// told apart: see [ErrUnknown], [ErrNull] and [ErrSensitive].
package ruleengine

import (
	"context"
	"os"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
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
	// Session names the pending nodes of objects whose id only the cloud will
	// choose. Without it such a node is unique only within an address.
	Session string
	// Prior is the state before (null for a create), Planned the state that
	// is wanted (null for a delete).
	Prior, Planned cty.Value
	// Sensitive holds the paths that must not leave this process in clear. An
	// index step stands for every element.
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
	// Request lacks Session, Intent and Key, which the caller adds, and the
	// guard SameLife, for which the caller knows the incarnation.
	Request admission.Request
	// Ruled is false when no rule knew the type.
	Ruled bool
	// Logical is true for a type that exists only in Terraform's state (random,
	// tls, time, null, local, terraform): it takes nothing, and the request is
	// not worth submitting.
	Logical bool
	// Shadow is what rules of low confidence would have asked for.
	Shadow Shadow
	// Buckets are those of the request's effects, in the same order: an object
	// of which neither limit nor use is known is read before they matter.
	Buckets []Bucket
	// Resized are the buckets of the operation's own object whose limit it sets
	// or may change. What is known of them is out of date once it has ended, and
	// what the same plan takes of them afterwards cannot be judged by it before.
	Resized []Bucket
	// Notes say what was not known and how the plan was widened for it.
	Notes []string
}

// Object is one object as a provider's read or import showed it.
type Object struct {
	Provider       string
	ProviderConfig cty.Value
	Type           string
	Address        string
	// State is the state that was read; when Gone is set, the one that the
	// provider was asked to refresh.
	State cty.Value
	// Gone is true when the provider said that the object is not there.
	Gone      bool
	Sensitive cty.PathSet
}

// Seen is an object as a read showed it.
type Seen struct {
	// Nodes places the object and its references, parents before children.
	Nodes       []graph.Decl
	Observation admission.Observation
	// Readings are what the read says about the buckets of the object. What it
	// does not say is not set; buckets of which it says nothing are left out.
	Readings []admission.Reading
	// Terminal is true when the state shows no operation in progress: as the
	// rule says, else always. It is true of an object that is gone, and false
	// when it could not be told.
	Terminal bool
	// Notes say what could not be told of buckets and progress.
	Notes []string
}

// Engine evaluates rule packs. It is safe for concurrent use.
type Engine struct {
	packs []*pack
	// pure are the functions of every expression, ambient those of realms.
	pure, ambient map[string]function.Function
	volatile      map[string]bool // attributes that are in no digest
}

// Environment looks up an environment variable; ok is false when it is not
// set. Realm rules use it where a provider falls back on its environment.
type Environment func(name string) (value string, ok bool)

// WithEnvironment returns the engine with another environment than that of
// this process.
func (e *Engine) WithEnvironment(env Environment) *Engine {
	return &Engine{packs: e.packs, pure: e.pure, ambient: environmentFunctions(e.pure, env), volatile: e.volatile}
}

// newEngine holds packs together, with the environment of this process.
func newEngine(packs []*pack) *Engine {
	pure := functions()
	return &Engine{packs: packs, pure: pure, ambient: environmentFunctions(pure, os.LookupEnv), volatile: volatile(packs)}
}

// PackInfo describes a loaded pack.
type PackInfo struct {
	Name, Version string
	// Provider is the pattern of provider source addresses it speaks for.
	Provider string
	// ProviderVersions is the constraint on provider versions that the pack
	// was made for; empty for any.
	ProviderVersions string
	// Types are the resource types with a rule, sorted.
	Types []string
}

// Packs describes the loaded packs in the order they were loaded.
func (e *Engine) Packs() []PackInfo {
	infos := make([]PackInfo, 0, len(e.packs))
	for _, p := range e.packs {
		types := make([]string, 0, len(p.resources))
		for name := range p.resources {
			types = append(types, name)
		}
		slices.Sort(types)
		infos = append(infos, PackInfo{
			Name: p.name, Version: p.version, Provider: p.provider.String(),
			ProviderVersions: p.providerVersions, Types: types,
		})
	}
	return infos
}

// Covers says whether a rule knows a resource type of a provider.
func (e *Engine) Covers(provider, resourceType string) bool {
	_, r := e.find(provider, resourceType)
	return r != nil
}

// find returns the first pack that has a rule for the type, nil when none has.
func (e *Engine) find(provider, resourceType string) (*pack, *resource) {
	for _, p := range e.packs {
		if !p.provider.match(provider) {
			continue
		}
		if r, ok := p.resources[resourceType]; ok {
			return p, r
		}
	}
	return nil, nil
}
