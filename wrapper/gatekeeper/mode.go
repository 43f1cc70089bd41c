// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// Mode is how much a run lets itself be coordinated, for one realm.
type Mode string

// The modes.
const (
	// Off: the coordinator is not asked.
	Off Mode = "off"
	// Observe: nothing is delayed or refused; what would have been is noted.
	Observe Mode = views.Observing
	// Wait: a change may be delayed up to the limit of the wait, and goes on
	// then. Nothing is refused.
	Wait Mode = views.WaitOnly
	// Enforce: a change waits, and is refused when it has to be.
	Enforce Mode = "enforce"
)

// lenient says whether a change in this mode is sent whatever is in its way.
func (m Mode) lenient() bool { return m == Off || m == Observe || m == Wait }

// modeOf is the mode for a realm, which is empty when it is not known.
func (g *Gatekeeper) modeOf(realm graph.NodeID) Mode {
	if g.config.Mode == nil {
		return Enforce
	}
	if m := g.config.Mode(realm); m != "" {
		return m
	}
	return Enforce
}

// realmOf is the realm that a request works in.
func realmOf(r admission.Request) graph.NodeID {
	parents := parentsOf(r)
	at := r.Self
	for range len(r.Nodes) {
		up := parents[at]
		if up == "" {
			break
		}
		at = up
	}
	return at
}

func parentsOf(r admission.Request) map[graph.NodeID]graph.NodeID {
	parents := make(map[graph.NodeID]graph.NodeID, len(r.Nodes))
	for _, d := range r.Nodes {
		parents[d.ID] = d.Parent
	}
	return parents
}
