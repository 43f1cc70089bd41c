// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinatortest

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Addresses is the bucket of the addresses of a network.
func Addresses(network string) escrow.Key {
	return admission.BucketOf(Network(network), "addresses")
}

// Consuming adds an effect on a bucket to a request.
func Consuming(r admission.Request, bucket escrow.Key, amount int64) admission.Request {
	r.Effects = escrow.Collect(append(r.Effects, escrow.Effect{Bucket: bucket, Amount: amount})...)
	return r
}

// Reservation is the request to reserve for a plan what its calls need. The
// name of each call is its action and its address.
func Reservation(calls ...admission.Request) admission.Request {
	r := admission.Request{Action: admission.Reserve, Address: "plan"}
	seen := map[graph.NodeID]bool{}
	for _, c := range calls {
		for _, n := range c.Nodes {
			if !seen[n.ID] {
				seen[n.ID] = true
				r.Nodes = append(r.Nodes, n)
			}
		}
		r.Calls = append(r.Calls, admission.Planned{
			ID: CallOf(c), Self: c.Self, Action: c.Action, Address: c.Address,
			Locks: c.Locks, Guards: c.Guards, Effects: c.Effects,
		})
	}
	slices.SortFunc(r.Calls, func(a, b admission.Planned) int { return cmp.Compare(a.ID, b.ID) })
	return r
}

// CallOf is the name of a request's call within its plan.
func CallOf(r admission.Request) admission.CallID {
	return admission.CallID(string(r.Action) + " " + r.Address)
}

// Planned makes a request the call of a reserved plan.
func Planned(r admission.Request, plan admission.TxID) admission.Request {
	r.Plan, r.Call = plan, CallOf(r)
	return r
}
