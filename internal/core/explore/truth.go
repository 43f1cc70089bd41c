// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import "github.com/tfweaver/tfweaver/internal/core/admission"

// checkSend judges the moment from which a call may have an effect.
func checkSend(c *Config, w *world, n *node, i int) *Violation {
	op, o := &c.Ops[i], &w.ops[i]
	if st := n.status[i]; st != actioning && st != uncertain {
		return broken("I9 StartBeforeSend", "%s is sent, and to the journal it is %q", op.Name, statuses[st])
	}
	if n.passed&(1<<i) != 0 {
		return nil // it was told what is in its way
	}
	if bits := w.flown(c) & c.disturb[i] &^ n.passed; bits != 0 {
		j := lowest(bits)
		if op.Make && c.Ops[j].Make && c.self[i] == c.self[j] {
			return broken("I19 NameUnique", "%s is sent while %s of s%d makes the same", op.Name, c.Ops[j].Name, c.Ops[j].Session)
		}
		return broken("I2 NoProviderOverlap", "%s is sent while %s may be running", op.Name, c.Ops[j].Name)
	}
	if v := checkBetween(c, w, n, i); v != nil {
		return v
	}
	self := int(c.self[i])
	if w.spoiled&(1<<self) != 0 || w.sessions[op.Session]&sGaveUp != 0 {
		return nil
	}
	unreferenced := op.guarded(admission.Unreferenced) != ""
	switch {
	case o.flags&fMoved != 0:
		return broken("I20 VersionGuard", "%s was planned before others wrote %s", op.Name, op.versioned())
	case o.flags&fRevived != 0:
		return broken("I20 VersionGuard", "%s was planned on an earlier life of %s", op.Name, op.lived())
	case unreferenced && w.referred(c, self):
		return broken("I20 VersionGuard", "%s although others refer to what it removes", op.Name)
	case unreferenced && w.strange(c, self, op.Session):
		return broken("I20 VersionGuard", "%s although what it removes contains an object of others", op.Name)
	}
	return nil
}

// checkBetween: nobody gets in between the calls of one intent.
func checkBetween(c *Config, w *world, n *node, i int) *Violation {
	for bits := c.disturb[i] &^ c.ops[c.Ops[i].Session]; bits != 0; bits &= bits - 1 {
		if j := lowest(bits); w.awaited(c, n, j) && w.half&(1<<c.self[j]) == 0 {
			return broken("I21 IntentAtomic", "%s gets in between the calls of %s of s%d", c.Ops[i].Name, c.Ops[j].Name, c.Ops[j].Session)
		}
	}
	return nil
}

// awaited says whether a call is still to come and belongs to an intent that has
// begun.
func (w *world) awaited(c *Config, n *node, j int) bool {
	s := c.Ops[j].Session
	return c.groups[j] != 0 && w.ops[j].effect == unsent && !w.ops[j].phase.over() && n.ended&(1<<s) == 0 &&
		w.sessions[s]&(sGaveUp|sClosed) == 0 && !c.Sessions[s].Watch && w.begun(c, c.groups[j])
}

// begun says whether one of some calls has had, or may have, an effect.
func (w *world) begun(c *Config, ops uint8) bool {
	for i := range c.Ops {
		if e := w.ops[i].effect; ops&(1<<i) != 0 && (e == flying || e == landed || e == halfway) {
			return true
		}
	}
	return false
}

// checkHalf: no intent is begun of which another call will never be sent. It is
// begun when its first call is started.
func checkHalf(c *Config, w *world, n *node, i int) *Violation {
	if c.groups[i] == 0 || n.passed&(1<<i) != 0 || w.sessions[c.Ops[i].Session]&sGaveUp != 0 || w.begun(c, c.groups[i]) {
		return nil
	}
	for j := range c.Ops {
		if c.groups[i]&(1<<j) != 0 && j != i && (w.ops[j].phase == started || n.status[j] == uncertain) {
			return nil
		}
	}
	for j := range c.Ops {
		if c.groups[i]&(1<<j) != 0 && j != i && w.ops[j].phase == bad {
			return broken("I21 IntentAtomic", "%s is started although %s is dead", c.Ops[i].Name, c.Ops[j].Name)
		}
	}
	return nil
}

// checkLand judges the moment in which a call takes effect.
func checkLand(c *Config, w *world, n *node, i int) *Violation {
	if n.passed&(1<<i) != 0 {
		return nil
	}
	if !n.status[i].holds() {
		return broken("I25 NoEffectAfterSettle", "%s takes effect, and is %q", c.Ops[i].Name, statuses[n.status[i]])
	}
	return checkBetween(c, w, n, i)
}

// checkWorld judges a world that was not seen before.
func checkWorld(c *Config, w *world, n *node) *Violation {
	for i := range c.Ops {
		if w.inFlight(c, i) && !w.deciding() && (n.holds|n.passed)&(1<<i) == 0 {
			return broken("I8 NoRunningWithoutLock", "%s may be running, and is %q", c.Ops[i].Name, statuses[n.status[i]])
		}
	}
	if v := checkKnowledge(c, w, n); v != nil {
		return v
	}
	if c.Capacity {
		return checkUse(c, w, n)
	}
	return nil
}

// checkKnowledge: where no call may be running, the graph is right about what
// exists, and knows every reference.
func checkKnowledge(c *Config, w *world, n *node) *Violation {
	for o := range c.Objects {
		know := n.object[o]
		if know == unknown || w.spoiled&(1<<o) != 0 {
			continue
		}
		busy, own := w.disturbed(c, n, o)
		switch exists := w.exists&(1<<o) != 0; {
		case own && know != underway:
			return broken("I24 ObservationOrder", "%s is settled to the graph while it is being changed", c.Objects[o])
		case busy:
		case know == underway:
			return broken("I24 ObservationOrder", "%s is being changed to the graph, and by nobody", c.Objects[o])
		case exists != (know == there):
			return broken("I24 ObservationOrder", "%s is there to the graph: %t, exists: %t", c.Objects[o], know == there, exists)
		case w.refs[o]&^n.refs[o] != 0 && exists:
			return broken("I24 ObservationOrder", "the graph lost a reference of %s", c.Objects[o])
		}
	}
	return nil
}

// disturbed says whether a call may be running that changes an object, or whose
// end the coordinator does not know; own: one that is in the cloud and has it as
// its own.
func (w *world) disturbed(c *Config, n *node, o int) (busy, own bool) {
	for bits := c.writesSelf[o]; bits != 0; bits &= bits - 1 {
		i := lowest(bits)
		st := n.status[i]
		if st == actioning || st == uncertain || w.inFlight(c, i) {
			busy = true
		}
		if w.ops[i].effect == flying && int(c.self[i]) == o && c.Ops[i].Action != admission.Read {
			own = true
		}
	}
	return busy, own
}

// checkUse: what is in use, with all that is on its way, is within the bounds
// that the coordinator keeps, and within the limit.
func checkUse(c *Config, w *world, n *node) *Violation {
	for b := range buckets {
		low, high := int64(w.use[b]), int64(w.use[b])
		for i := range c.Ops {
			if w.ops[i].effect == flying {
				e := int64(c.Ops[i].Effects[b])
				high, low = high+max(e, 0), low+min(e, 0)
			}
		}
		limit := c.Limits[b]
		if b == 0 {
			limit = w.top
		}
		switch {
		case high > int64(limit) && c.Use[b] <= c.Limits[b]:
			return broken("I5 EscrowSup", "bucket %d may reach %d of %d", b, high, limit)
		case w.blurred(c, b):
		case n.sup[b] < high || n.inf[b] > low:
			return broken("I6 EscrowInf", "bucket %d may be %d to %d, and is held for %d to %d", b, low, high, n.inf[b], n.sup[b])
		}
	}
	return nil
}

// blurred says whether somebody went over the lock of an object that counts in a
// bucket: what is seen of that object then does not tell whose call has done it.
func (w *world) blurred(c *Config, b int) bool {
	for i := range c.Ops {
		if c.Ops[i].Effects[b] != 0 && w.spoiled&(1<<c.self[i]) != 0 {
			return true
		}
	}
	return false
}

// checkSink judges a world in which nothing is sure to happen any more: there
// nobody waits (I12).
func checkSink(c *Config, w *world, n *node) *Violation {
	if n.waiting > 0 {
		return broken("I12 Progress", "%v wait for ever", n.state.Waiting())
	}
	for s := range c.Sessions {
		if w.alive(s) {
			return broken("I12 Progress", "s%d never ends", s)
		}
	}
	if n.claims > 0 {
		return broken("I12 Progress", "%d claims are left", n.claims)
	}
	return nil
}

func lowest(bits uint8) int {
	for i := range 8 {
		if bits&(1<<i) != 0 {
			return i
		}
	}
	return -1
}
