// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package coordinatortest builds what tests put to a coordinator.
package coordinatortest

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Realm is the root of all nodes of this package.
const Realm graph.NodeID = "sim/sub-1"

// Network is the id of a network.
func Network(name string) graph.NodeID { return Realm + "/net/" + graph.NodeID(name) }

// Subnet is the id of a subnet of a network.
func Subnet(network, name string) graph.NodeID {
	return Network(network) + "/subnet/" + graph.NodeID(name)
}

// Write is the request to write a subnet; two of them on one network exclude
// each other, as Azure's do.
func Write(network, name string, action admission.Action) admission.Request {
	net, self := Network(network), Subnet(network, name)
	slot := graph.FacetOf(net, "slot:write")
	parents := map[graph.NodeID]graph.NodeID{self: net, slot: net, net: Realm}
	wants := []lock.Want{
		{Node: self, Mode: mode.X, Relation: lock.Same, Rule: "test#self", Class: "in_flight"},
		{Node: slot, Mode: mode.X, Relation: lock.Rule, Rule: "test#slot", Class: "in_flight"},
	}
	return admission.Request{
		Address: "sim_subnet." + name, Type: "sim_subnet", Action: action, Self: self,
		Nodes: []graph.Decl{
			{ID: Realm, Kind: graph.Realm},
			{ID: net, Parent: Realm, Kind: graph.Resource, Type: "sim_network"},
			{ID: slot, Parent: net, Kind: graph.Facet},
			{ID: self, Parent: net, Kind: graph.Resource, Type: "sim_subnet"},
		},
		Locks: lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) {
			up, ok := parents[id]
			return up, ok
		}),
	}
}

// Create is Write with the action create.
func Create(network, name string) admission.Request { return Write(network, name, admission.Create) }

// Guarded adds a guard to a request, on a node that it names.
func Guarded(r admission.Request, kind admission.GuardKind, node graph.NodeID, value uint64) admission.Request {
	r.Guards = append(r.Guards, admission.Guard{Kind: kind, Node: node, Value: value})
	return r
}
