// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Check is what a preflight looks at.
type Check string

// The checks, in the order in which they are made.
const (
	// CheckVisible: what is named is in the view.
	CheckVisible Check = "visible"
	// CheckAllowed: the policy allows it.
	CheckAllowed Check = "allowed"
	// CheckOwned: what is changed or deleted is the session's own, or shared
	// with it for changing.
	CheckOwned Check = "owned"
	// CheckGuards: what was planned on is as it was.
	CheckGuards Check = "guards"
	// CheckDependencies: what is needed is there, and nothing visible stands in
	// the way of a delete.
	CheckDependencies Check = "dependencies"
	// CheckCapacity: as much is available as is asked for.
	CheckCapacity Check = "capacity"
)

// Finding is what a preflight found against a delta.
type Finding struct {
	Check Check `json:"check"`
	// Field is the part of the delta, such as "uses[1]".
	Field string `json:"field"`
	// ID is the local id of what it is about.
	ID LocalID `json:"id"`
	// Other is a second node: what refers to the first, or is in it.
	Other LocalID `json:"other,omitempty"`
	// Text is a sentence without its full stop.
	Text string `json:"text"`
}

// Preflight says what speaks against a delta before anything is submitted, as
// far as the session's own view tells; nothing found is no promise. It looks at
// the view alone, and so tells nothing that the view does not.
func (v *View) Preflight(d Delta) []Finding {
	c := &preflight{v: v, at: make(map[LocalID]*Node, len(v.Nodes))}
	for i := range v.Nodes {
		c.at[v.Nodes[i].ID] = &v.Nodes[i]
	}
	c.object(d)
	for i, u := range d.Uses {
		c.use(fmt.Sprintf("uses[%d]", i), u.ID)
	}
	for i, g := range d.Planned {
		c.guard(fmt.Sprintf("planned[%d]", i), g)
	}
	if d.Action == admission.Delete {
		c.dependents(d.Self)
	}
	for i, n := range d.Needs {
		c.need(fmt.Sprintf("needs[%d]", i), n)
	}
	return c.list
}

type preflight struct {
	v    *View
	at   map[LocalID]*Node
	list []Finding
}

func (c *preflight) add(check Check, field string, id LocalID, format string, args ...any) {
	c.list = append(c.list, Finding{Check: check, Field: field, ID: id, Text: fmt.Sprintf(format, args...)})
}

// node finds what a field names.
func (c *preflight) node(field string, id LocalID) *Node {
	n := c.at[id]
	if n == nil {
		c.add(CheckVisible, field, id, "the session sees nothing of this name")
	}
	return n
}

func (c *preflight) object(d Delta) {
	if d.Self == "" {
		if n := c.node("in", d.In); n != nil {
			c.allowed("in", n, d.Action)
			c.there("in", n)
		}
		return
	}
	n := c.node("self", d.Self)
	if n == nil {
		return
	}
	if d.Action == admission.Create { // of what was declared, or is to come back
		if n.Access < Changeable {
			c.add(CheckOwned, "self", n.ID, "it is %s to the session, and not its own", n.Access)
		}
		return
	}
	c.allowed("self", n, d.Action)
	c.there("self", n)
}

func (c *preflight) allowed(field string, n *Node, action admission.Action) {
	switch {
	case n.Access.Allows(action):
	case action == admission.Update || action == admission.Delete:
		c.add(CheckOwned, field, n.ID, "it is %s to the session, and not its own", n.Access)
	default:
		c.add(CheckAllowed, field, n.ID, "it is %s to the session, which does not allow to %s", n.Access, action)
	}
}

func (c *preflight) there(field string, n *Node) {
	if n.Lifecycle == graph.Absent {
		c.add(CheckDependencies, field, n.ID, "it is not there")
	}
}

func (c *preflight) use(field string, id LocalID) {
	n := c.node(field, id)
	if n == nil {
		return
	}
	if n.Access < Usable {
		c.add(CheckAllowed, field, id, "it is %s to the session, which does not allow to refer to it", n.Access)
	}
	c.there(field, n)
}

func (c *preflight) guard(field string, g Planned) {
	if n := c.node(field, g.ID); n != nil && n.Version != g.Version {
		c.add(CheckGuards, field, g.ID, "it is at version %d, and the plan was made on %d", n.Version, g.Version)
	}
}

// dependents are what a node contains, and what refers to it or into it from
// outside.
func (c *preflight) dependents(id LocalID) {
	for i := range c.v.Nodes {
		n := &c.v.Nodes[i]
		if n.ID != id && n.Lifecycle.Live() && n.Access < Own && c.within(id, n.ID) {
			c.depends(id, n.ID, "contains")
		}
	}
	for _, e := range c.v.Edges {
		from := c.at[e.From]
		if c.within(id, e.To) && !c.within(id, e.From) && from != nil && from.Lifecycle != graph.Absent {
			c.depends(id, e.From, "is referred to by")
		}
	}
}

func (c *preflight) depends(id, other LocalID, how string) {
	c.list = append(c.list, Finding{
		Check: CheckDependencies, Field: "self", ID: id, Other: other, Text: fmt.Sprintf("it %s %s", how, other),
	})
}

// within says whether a node is another one, or in it.
func (c *preflight) within(outer, id LocalID) bool {
	for n := c.at[id]; n != nil; n = c.at[n.Parent] {
		if n.ID == outer {
			return true
		}
	}
	return false
}

func (c *preflight) need(field string, n Need) {
	if n.ID != "" && c.node(field, n.ID) == nil {
		return
	}
	for _, b := range c.v.Capacity {
		if b.Node == n.ID && b.Name == n.Bucket && n.Amount > b.Available {
			c.add(CheckCapacity, field, n.ID, "%d asked of %s, and %d available", n.Amount, n.Bucket, b.Available)
		}
	}
}
