// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// The nodes of all configurations: three objects, and one with a child.
var nodes = [...]graph.NodeID{"r/x", "r/y", "r/z", "r/p", "r/p/c"}

const (
	x = iota
	y
	z
	parent
	child
	nodeCount
)

func inside(i, j int) bool {
	return i == j || strings.HasPrefix(string(nodes[i]), string(nodes[j])+"/")
}

func decls() []graph.Decl {
	list := []graph.Decl{{ID: "r", Kind: graph.Realm}}
	for _, id := range nodes {
		up := id[:strings.LastIndexByte(string(id), '/')]
		list = append(list, graph.Decl{ID: id, Parent: up, Kind: graph.Resource, Type: "sim"})
	}
	return list
}

// bounds of a configuration.
const (
	maxRuns  = 3
	maxCalls = 6
	buckets  = 2
)

// Call is one provider call and what it does.
type Call struct {
	Name   string
	Self   int
	Action admission.Action
	// Reads are the nodes that must not be written meanwhile.
	Reads []int
	// Effects are on the two buckets.
	Effects [buckets]int64
	After   []int
	// Group is 0 for a call by itself.
	Group int
	// Extra is a call that the plan of the run does not know of.
	Extra bool
}

// touches says whether two calls must not overlap.
func (c *Call) touches(o *Call) bool {
	return c.writes(o) || o.writes(c)
}

// writes says whether the call writes something that the other one uses.
func (c *Call) writes(o *Call) bool {
	if inside(o.Self, c.Self) {
		return true
	}
	for _, r := range o.Reads {
		if inside(r, c.Self) {
			return true
		}
	}
	return false
}

// Run is one Terraform run.
type Run struct {
	Policy admission.Policy
	Whole  bool
	// Watch is a run that goes on whatever is in its way; it has no effects.
	Watch bool
	Calls []Call
}

// asks says whether the run makes a reservation: it has something that belongs
// together, or takes capacity.
func (r *Run) asks() bool {
	for _, c := range r.Calls {
		if !c.Extra && c.Group != 0 || !c.Extra && c.Effects != [buckets]int64{} {
			return true
		}
	}
	return r.Whole
}

// Config is one configuration to explore.
type Config struct {
	Name   string
	Runs   []Run
	Limits [buckets]int64
	Use    [buckets]int64
	// Faults bounds the mishaps of one history: failures, losses, deaths.
	Faults int
	// Read, Shift and Restart are what else may happen: a read of the buckets
	// that is under way for a while, a limit that changes, and a machine that is
	// read from its snapshot every few steps.
	Read, Shift, Restart bool
}

func (c *Config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: limits %v, in use %v, read %t, shift %t, restart %t\n", c.Name, c.Limits, c.Use, c.Read, c.Shift, c.Restart)
	for i, r := range c.Runs {
		fmt.Fprintf(&b, "  run %d (%s, whole %t, watch %t):", i, r.Policy, r.Whole, r.Watch)
		for j, k := range r.Calls {
			fmt.Fprintf(&b, " %d=%s after %v group %d effects %v;", j, k.Name, k.After, k.Group, k.Effects)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
