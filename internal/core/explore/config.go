// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Session is one Terraform run.
type Session struct {
	Policy admission.Policy
	// Reserve is a run that makes a reservation for its plan, Whole one that
	// holds all of it, and Watch one that goes on whatever is in its way.
	Reserve, Whole, Watch bool
}

// Config is one configuration to explore.
type Config struct {
	Name     string
	Sessions []Session
	Ops      []Op
	// Objects are those of the landscape, There which exist at first, with the
	// session that owns them (-1: nobody known). Everything else is known to be
	// absent, or not known at all if Blind.
	Objects []graph.NodeID
	There   map[graph.NodeID]int
	Links   map[graph.NodeID]graph.NodeID
	Blind   bool
	// Limits and Use are of the two buckets; without Capacity there are none.
	Capacity    bool
	Limits, Use [buckets]int8
	// Faults bounds the mishaps of one history.
	Faults int
	// Journal models the append of each decision as a step of its own, with
	// leaders that crash and are deposed in between.
	Journal bool
	// Reads is an object that somebody reads once, empty for none; Meter and
	// Shift are a read of the buckets and a limit that changes, Pass somebody who
	// overrides decisions, Dup messages that arrive twice.
	Reads                   graph.NodeID
	Meter, Shift, Pass, Dup bool
	// Views gives the sessions different views, each less than all.
	Views bool

	holes holes
	tables
}

// holes are faults of the shell that tests seed into the model, to see that the
// checks of the journal and the leader fire.
type holes struct {
	// answerEarly answers before the append, and unfenced accepts what a deposed
	// leader appends.
	answerEarly, unfenced bool
}

// tables are what is looked up at every step.
type tables struct {
	self, refers     [maxOps]int8 // object numbers, -1 for none
	lived, versioned [maxOps]int8
	requires         [maxOps]uint8      // objects
	disturb          [maxOps]uint8      // operations
	writesSelf       [maxObjects]uint8  // operations that write the object itself
	within           [maxObjects]uint8  // objects in an object, itself included
	ops, makes       [maxSessions]uint8 // operations
	groups           [maxOps]uint8      // operations of the same group
	before, behind   [maxOps]uint8      // operations directly or indirectly
	makesOf          [maxObjects]uint8  // operations
}

// prepare fills the tables.
func (c *Config) prepare() *Config {
	if len(c.Ops) > maxOps || len(c.Sessions) > maxSessions || len(c.Objects) > maxObjects {
		panic("configuration too large: " + c.Name)
	}
	c.tables = tables{}
	for i, o := range c.Objects {
		for j, p := range c.Objects {
			if inside(p, o) {
				c.within[i] |= 1 << j
			}
		}
	}
	for i := range c.Ops {
		c.prepareOp(i)
	}
	for range c.Ops {
		for i := range c.Ops {
			for _, a := range c.Ops[i].After {
				c.before[i] |= 1<<a | c.before[a]
			}
		}
	}
	for i := range c.Ops {
		for j := range c.Ops {
			if c.before[i]&(1<<j) != 0 {
				c.behind[j] |= 1 << i
			}
		}
	}
	return c
}

func (c *Config) prepareOp(i int) {
	o := &c.Ops[i]
	c.self[i], c.refers[i] = c.number(o.Self), c.number(o.Refers)
	c.lived[i], c.versioned[i] = c.number(o.lived()), c.number(o.versioned())
	for _, r := range o.Requires {
		c.requires[i] |= 1 << c.number(r)
	}
	for j := range c.Ops {
		p := &c.Ops[j]
		if i != j && o.disturbs(p) {
			c.disturb[i] |= 1 << j
		}
		if o.Group != 0 && p.Group == o.Group && p.Session == o.Session {
			c.groups[i] |= 1 << j
		}
	}
	for n, id := range c.Objects {
		if o.Self == id && o.Action != admission.Read || meet(o.writes, []touch{the(id)}) {
			c.writesSelf[n] |= 1 << i
		}
	}
	c.ops[o.Session] |= 1 << i
	if o.Make {
		c.makes[o.Session] |= 1 << i
		c.makesOf[c.self[i]] |= 1 << i
	}
}

func (c *Config) number(id graph.NodeID) int8 { return int8(slices.Index(c.Objects, id)) }

// planned says whether the plan of its run foresees an operation.
func (c *Config) planned(i int) bool { return c.Sessions[c.Ops[i].Session].Reserve && !c.Ops[i].Extra }

// configMark stands behind the name of a configuration where it is printed.
const configMark = ": there "

// String describes the configuration.
func (c *Config) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%v, links %v, limits %v, in use %v, faults %d\n", c.Name, configMark, c.There, c.Links, c.Limits, c.Use, c.Faults)
	for s, x := range c.Sessions {
		fmt.Fprintf(&b, "  s%d (%s, reserves %t, whole %t, watches %t):", s, x.Policy, x.Reserve, x.Whole, x.Watch)
		for i, o := range c.Ops {
			if o.Session == s {
				fmt.Fprintf(&b, " t%d=%s", i, o.Name)
				if len(o.After) > 0 {
					fmt.Fprintf(&b, " after %v", o.After)
				}
				if o.Group > 0 {
					fmt.Fprintf(&b, " group %d", o.Group)
				}
				if o.Effects != [buckets]int8{} {
					fmt.Fprintf(&b, " effects %v", o.Effects)
				}
				b.WriteByte(';')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const observer = admission.SessionID("reader")

var sessionIDs = [...]admission.SessionID{"s0", "s1", "s2"}

func txID(i int) admission.TxID          { return txIDs[i] }
func planID(s int) admission.TxID        { return planIDs[s] }
func callID(i int) admission.CallID      { return admission.CallID(fmt.Sprintf("c%d", i)) }
func bucketKey(b int) escrow.Key         { return escrow.Key(fmt.Sprintf("q%d", b)) }
func state(s admission.SessionID) string { return "state-" + string(s) }

var (
	txIDs   = [...]admission.TxID{"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"}
	planIDs = [...]admission.TxID{"p0", "p1", "p2"}
)

func numberOf(id admission.TxID) int { return slices.Index(txIDs[:], id) }
