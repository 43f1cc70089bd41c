// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package lock is the lock table of the coordination protocol:
// multi-granularity locks on the nodes of a containment forest, taken all
// together or not at all. The table knows owners and nodes, not sessions,
// queues or time; those are the business of package admission.
package lock

import (
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Relation says why a plan names a node, seen from the operation's own object.
type Relation string

// The relations, as they stand in conflict reports.
const (
	Same       Relation = "same"
	Ancestor   Relation = "ancestor"
	Descendant Relation = "descendant"
	Reference  Relation = "reference"
	Named      Relation = "name"
	Capacity   Relation = "capacity"
	Rule       Relation = "rule"
	Guarded    Relation = "guard"
)

// Want is one node of a lock plan.
type Want struct {
	Node graph.NodeID `json:"node"`
	Mode mode.Mode    `json:"mode"`
	// Relation is Ancestor for the intentions that Close adds.
	Relation Relation `json:"relation"`
	// Rule identifies the rule that asked for the lock, such as
	// "simcloud/simcloud_subnet.create#slot"; empty for intentions.
	Rule string `json:"rule,omitempty"`
	// Class is the conflict class of the rule: in_flight, dependency,
	// capacity, lost_update, name, throttle or guard.
	Class string `json:"class,omitempty"`
}

// Plan is what one transaction must hold: at most one Want per node, sorted by
// node id, every ancestor of a wanted node holding the intention for it.
type Plan []Want
