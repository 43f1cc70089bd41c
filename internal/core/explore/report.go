// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import "github.com/tfweaver/tfweaver/internal/core/admission"

// checkReport judges by the cloud what a decision has done.
func checkReport(c *Config, w *world, before, after *node, r *report) *Violation {
	for i := range c.Ops {
		if r.granted&(1<<i) == 0 {
			continue
		}
		for o := range c.Objects {
			if c.requires[i]&^(w.exists|w.spoiled)&(1<<o) != 0 && after.object[o] != unknown && !w.guessed(c, after, o) {
				return broken("I20 VersionGuard", "%s is granted without %s", c.Ops[i].Name, c.Objects[o])
			}
		}
	}
	for _, p := range r.over {
		if !w.awaitsMaking(c, after, int(p.waiter)) {
			return broken("I11 FIFO", "%s is granted over %s", c.Ops[p.granted].Name, c.Ops[p.waiter].Name)
		}
	}
	for _, g := range r.refused {
		if v := checkRefusal(c, w, int(g.op), g.why); v != nil {
			return v
		}
	}
	for o := range c.Objects {
		if r.broken&(1<<o) != 0 && !w.halved(c, before, o) {
			return broken("I17 Attribution", "%s is reported as half replaced", c.Objects[o])
		}
	}
	return nil
}

// guessed says whether the graph takes an object for there only because a call
// is, or was, about to change it that nobody has ever seen.
func (w *world) guessed(c *Config, n *node, o int) bool {
	if !c.Blind {
		return false
	}
	for i := range c.Ops {
		if st := n.status[i]; int(c.self[i]) == o && (w.ops[i].effect != unsent || st == actioning || st == uncertain) {
			return true
		}
	}
	return false
}

// awaitsMaking says whether an operation needs an object that another session
// has promised and not told of yet, while its own has not promised it.
func (w *world) awaitsMaking(c *Config, n *node, i int) bool {
	for o := range c.Objects {
		if c.requires[i]&(1<<o) != 0 && !w.told(c, n, o) && w.promised(c, n, o, c.Ops[i].Session) {
			return true
		}
	}
	return false
}

// told says whether an object is there, and not by a create that the coordinator
// does not know the end of.
func (w *world) told(c *Config, n *node, o int) bool {
	for bits := c.makesOf[o]; bits != 0; bits &= bits - 1 {
		i := lowest(bits)
		if e := w.ops[i].effect; (e == landed || e == halfway) && !n.status[i].final() {
			return false
		}
	}
	return w.exists&(1<<o) != 0
}

func (w *world) promised(c *Config, n *node, o, session int) bool {
	foreign := false
	for bits := c.makesOf[o]; bits != 0; bits &= bits - 1 {
		i := lowest(bits)
		s := c.Ops[i].Session
		if w.sessions[s]&sDeclared == 0 || n.ended&(1<<s) != 0 || n.status[i] == operational || n.status[i] == failed {
			continue
		}
		if s == session {
			return false
		}
		foreign = true
	}
	return foreign
}

// checkRefusal: a refusal has a ground in the cloud, or in the policy of the
// session, is never the session's own doing, and leaves no intent half done.
func checkRefusal(c *Config, w *world, i int, why []admission.Blocker) *Violation {
	op := &c.Ops[i]
	if c.planned(i) || op.Effects != [buckets]int8{} {
		return checkPlanned(c, w, i, why)
	}
	for _, b := range why {
		if w.ground(c, i, b) {
			return nil
		}
	}
	return broken("I17 Attribution", "%s is refused without ground: %+v", op.Name, why)
}

func (w *world) ground(c *Config, i int, b admission.Blocker) bool {
	op := &c.Ops[i]
	switch {
	case b.Guard == "" || b.Fact == "declared":
		return c.Sessions[op.Session].Policy == admission.Reject && b.HolderSession != sessionIDs[op.Session] || b.Replan
	case b.Guard == admission.Present:
		o := c.number(b.Node)
		return o < 0 || w.exists&(1<<o) == 0 || w.spoiled&(1<<o) != 0
	case b.Guard == admission.Unreferenced:
		self := int(c.self[i])
		return w.referred(c, self) || w.strange(c, self, op.Session) || w.spoiled != 0
	case b.Guard == admission.SameLife:
		o := c.number(b.Node)
		dead := w.sessions[op.Session]&sKilled != 0 // what it had planned on is not kept
		return dead || w.ops[i].flags&fRevived != 0 || o < 0 || w.exists&(1<<o) == 0 || w.spoiled&(1<<o) != 0
	default:
		return false
	}
}

// checkPlanned: what was reserved is there, and a call of an intent that has
// begun is not refused.
func checkPlanned(c *Config, w *world, i int, why []admission.Blocker) *Violation {
	op := &c.Ops[i]
	if !c.planned(i) || w.sessions[op.Session]&sGaveUp != 0 || w.spoiled&(1<<c.self[i]) != 0 {
		return nil
	}
	if c.groups[i] != 0 && w.begun(c, c.groups[i]) {
		return broken("I21 IntentAtomic", "%s is refused half-way: %+v", op.Name, why[0])
	}
	for _, b := range why {
		switch {
		case b.Capacity != nil:
			return broken("I23 OwnFreesKept", "%s was reserved and is short of %+v", op.Name, *b.Capacity)
		case b.Exceeded:
			return broken("I26 DrawWithinReservation", "%s exceeds what it foresaw: %+v", op.Name, b)
		}
	}
	return nil
}

// halved says whether an intent about an object has begun, or may have.
func (w *world) halved(c *Config, n *node, o int) bool {
	for i := range c.Ops {
		if int(c.self[i]) != o || c.groups[i] == 0 {
			continue
		}
		for bits := c.groups[i]; bits != 0; bits &= bits - 1 {
			j := lowest(bits)
			if w.ops[j].effect != unsent || n.status[j] == actioning || n.status[j] == uncertain {
				return true
			}
		}
	}
	return false
}
