// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// The objects of all configurations: a group with a network of two subnets, a
// security group and a network interface. The realm is not an object.
const (
	realm = graph.NodeID("r")
	group = graph.NodeID("r/g")
	net   = graph.NodeID("r/g/v")
	sub1  = graph.NodeID("r/g/v/s1")
	sub2  = graph.NodeID("r/g/v/s2")
	sg    = graph.NodeID("r/g/n")
	nic   = graph.NodeID("r/g/p")
)

// objects lists them, parents first; a position here is an object's number.
var objects = [...]graph.NodeID{group, net, sub1, sub2, sg, nic}

const (
	objectCount  = len(objects)
	sessionCount = 3
)

func number(id graph.NodeID) int {
	for i, o := range objects {
		if o == id {
			return i
		}
	}
	return -1
}

// inside says whether object i is j or contained in it.
func inside(i, j int) bool {
	return i == j || strings.HasPrefix(string(objects[i]), string(objects[j])+"/")
}

// cloud is the ground truth: what is there, whatever the coordinator believes.
type cloud struct {
	exists [objectCount]bool
	life   [objectCount]uint8
	owner  [objectCount]int8                // session that last wrote it, -1 when nobody did
	edits  [objectCount][sessionCount]uint8 // changes, by who made them
	refs   [objectCount]uint8               // bit set of the objects referred to
}

// foreignEdits counts the changes of an object by other sessions.
func (c *cloud) foreignEdits(object, session int) int {
	n := 0
	for s, e := range c.edits[object] {
		if s != session {
			n += int(e)
		}
	}
	return n
}

// referrer is a live object outside the subtree that refers into it, or -1.
func (c *cloud) referrer(root int) int {
	for from := range objects {
		if !c.exists[from] || inside(from, root) {
			continue
		}
		for to := range objects {
			if c.refs[from]&(1<<to) != 0 && inside(to, root) {
				return from
			}
		}
	}
	return -1
}

// foreignChild is a live object of another session within the subtree, or -1.
func (c *cloud) foreignChild(root, session int) int {
	for i := range objects {
		if i != root && inside(i, root) && c.exists[i] && c.owner[i] >= 0 && int(c.owner[i]) != session {
			return i
		}
	}
	return -1
}

// land is an operation taking effect. A failed one leaves things as they are.
func (c *cloud) land(op *Op, ok bool) {
	self := number(op.Self)
	if !ok || self < 0 || op.reads() {
		return
	}
	switch {
	case op.Remove:
		c.remove(self, op.Session)
	case op.Make:
		c.exists[self] = true
		c.life[self]++
		fallthrough
	default:
		c.owner[self] = int8(op.Session)
		c.edits[self][op.Session]++
	}
	if op.Refers != "" && !op.Remove {
		c.refs[self] |= 1 << number(op.Refers)
	}
}

func (c *cloud) remove(self, session int) {
	for i := range objects {
		if inside(i, self) && c.exists[i] {
			c.exists[i] = false
			c.refs[i] = 0
			c.owner[i] = -1
			c.edits[i][session]++
		}
	}
}

// doubt is an operation that failed, of which a person later saw only that the
// object is there. Nobody can tell that it was not made, so it counts as made.
func (c *cloud) doubt(op *Op) {
	self := number(op.Self)
	if !c.exists[self] || op.Remove || op.reads() {
		return
	}
	c.owner[self] = int8(op.Session)
	if op.Make {
		c.life[self]++
	}
}
