// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"encoding/binary"

	"github.com/tfweaver/tfweaver/internal/core/explore/space"
)

// phase is how far a client has come with an operation.
type phase uint8

const (
	idle      phase = iota
	planned         // its lock plan is made
	asking          // the request is on its way to the coordinator
	pending         // the coordinator has it
	starting        // the client knows that it is admitted, and Start is on its way
	started         // Start is acknowledged: the call may be sent
	calling         // the call was sent
	reporting       // the client has the answer, and its report is on its way
	good            // done, and succeeded
	bad             // failed, refused, lost, or not sent for the sake of one that was
)

func (p phase) over() bool { return p >= good }

// effect is how far a call has come in the cloud.
type effect uint8

const (
	unsent  effect = iota
	flying         // sent; it may take effect at any time
	landed         // it has taken effect
	halfway        // it has left an object and failed
	gone           // it has no effect and never will
)

// Flags of an operation.
const (
	fMoved   = 1 << iota // somebody else wrote what its plan is made on
	fRevived             // the life that its plan is made on has ended, or another began
	fRound               // it was planned again
	fVoid                // what it removed was not there
)

// op is an operation as the world knows it.
type op struct {
	phase         phase
	effect        effect
	flags         uint8
	version, life uint8 // that its plan is made on, until it is asked for
}

// Flags of a session.
const (
	sReserved = 1 << iota
	sDeclared
	sKilled // its process is dead, whether that is known or not
	sClosed
	sGaveUp // it gave its reservation back
)

// Flags of a world.
const (
	wReadBegun = 1 << iota
	wReadOver
	wReadThere
	wMeterBegun
	wMeterOver
	wShifted
	wDeposed // a deposed leader still has a decision that it wants to append
)

// world is a state of the core with everything around it: what each client
// believes, which messages and calls are on their way, and what is true in the
// cloud. What cannot matter any more is set back to zero, so that worlds with
// the same future are equal.
type world struct {
	at       uint32         // the node of the core that is in the journal
	pending  [batch]command // decided by the leader, and not appended yet
	ops      [maxOps]op
	sessions [maxSessions]uint8
	exists   uint8             // objects
	owner    [maxObjects]int8  // session that last wrote it, -1 for nobody
	refs     [maxObjects]uint8 // objects
	use      [buckets]int8
	read     [buckets]int8 // what the read of the buckets saw when it began
	seen     uint8         // what the read of the object saw of its references
	limit    int8          // of the first bucket
	top      int8          // the highest that it was
	half     uint8         // objects that were reported as half replaced
	spoiled  uint8         // objects that somebody wrote without holding them
	faults   uint8
	flags    uint8
}

// batch is how many decisions a leader appends at once at most.
const batch = 2

const keySize = 88

// key identifies a world.
func (w *world) key(b *[keySize]byte) space.Key {
	binary.LittleEndian.PutUint32(b[0:], w.at)
	n := 4
	for _, x := range w.pending {
		b[n], b[n+1], b[n+2], b[n+3] = byte(x.verb), x.who, x.a, x.b
		n += 4
	}
	for i := range w.ops {
		o := &w.ops[i]
		b[n] = byte(o.phase) | byte(o.effect)<<4
		b[n+1], b[n+2], b[n+3] = o.flags, o.version, o.life
		n += 4
	}
	n += copy(b[n:], w.sessions[:])
	for i := range w.owner {
		b[n], b[n+1] = byte(w.owner[i]), w.refs[i]
		n += 2
	}
	for i := range w.use {
		b[n], b[n+1] = byte(w.use[i]), byte(w.read[i])
		n += 2
	}
	tail := [...]byte{w.exists, w.seen, byte(w.limit), byte(w.top), w.half, w.spoiled, w.faults, w.flags}
	n += copy(b[n:], tail[:])
	clear(b[n:])
	return space.Hash(b[:])
}

// newWorld is the world at the beginning.
func newWorld(c *Config, at uint32) world {
	w := world{at: at, use: c.Use, limit: c.Limits[0], top: c.Limits[0]}
	for i, o := range c.Objects {
		w.owner[i] = -1
		owner, there := c.There[o]
		if !there {
			continue
		}
		w.exists |= 1 << i
		w.owner[i] = int8(owner)
		if to, ok := c.Links[o]; ok {
			w.refs[i] = 1 << c.number(to)
		}
	}
	return w
}

func (w *world) alive(s int) bool { return w.sessions[s]&(sKilled|sClosed) == 0 }

// inFlight says whether a call may still take effect, now or after it is sent.
func (w *world) inFlight(c *Config, i int) bool {
	o := &w.ops[i]
	return o.effect == flying || o.phase == started && w.alive(c.Ops[i].Session)
}

// flown are the operations whose calls are in the cloud.
func (w *world) flown(c *Config) uint8 {
	var bits uint8
	for i := range c.Ops {
		if w.ops[i].effect == flying {
			bits |= 1 << i
		}
	}
	return bits
}

// possible says whether the cloud would accept an operation now.
func (w *world) possible(c *Config, i int) bool {
	op := &c.Ops[i]
	if c.requires[i]&^w.exists != 0 {
		return false
	}
	switch {
	case op.Make:
		return w.exists&(1<<c.self[i]) == 0
	case op.Remove:
		return !w.referred(c, int(c.self[i]))
	default:
		return true
	}
}

// referred says whether an object outside a subtree refers into it.
func (w *world) referred(c *Config, root int) bool {
	in := c.within[root]
	for from := range c.Objects {
		if w.exists&(1<<from) != 0 && in&(1<<from) == 0 && w.refs[from]&in != 0 {
			return true
		}
	}
	return false
}

// strange says whether an object of another session is in a subtree.
func (w *world) strange(c *Config, root, session int) bool {
	for i := range c.Objects {
		if i != root && c.within[root]&w.exists&(1<<i) != 0 && w.owner[i] >= 0 && int(w.owner[i]) != session {
			return true
		}
	}
	return false
}

// land is a call taking effect.
func (w *world) land(c *Config, i int) {
	op, self := &c.Ops[i], int(c.self[i])
	if void := op.Remove && self >= 0 && w.exists&(1<<self) == 0; !void {
		for b, e := range op.Effects {
			w.use[b] += e
		}
	}
	if self < 0 || len(op.writes) == 0 {
		return
	}
	touched := uint8(1) << self
	switch {
	case op.Remove:
		touched = c.within[self] & w.exists
		if touched == 0 {
			w.ops[i].flags |= fVoid
		}
		for n := range c.Objects {
			if touched&(1<<n) != 0 {
				w.refs[n], w.owner[n] = 0, -1
			}
		}
		w.exists &^= touched
	default:
		if op.Make {
			w.exists |= touched
		}
		w.owner[self] = int8(op.Session)
	}
	if op.Refers != "" && !op.Remove {
		w.refs[self] |= 1 << c.refers[i]
	}
	w.outdate(c, i, touched, op.Make || op.Remove)
}

// outdate tells the plans that were made on objects that those have changed.
func (w *world) outdate(c *Config, i int, touched uint8, lives bool) {
	for j := range c.Ops {
		o := &w.ops[j]
		if j == i || o.phase == idle && !c.planned(j) || o.phase >= calling {
			continue
		}
		if v := c.versioned[j]; v >= 0 && touched&(1<<v) != 0 && c.Ops[j].Session != c.Ops[i].Session {
			o.flags |= fMoved
		}
		if v := c.lived[j]; lives && v >= 0 && touched&(1<<v) != 0 && (!c.planned(j) || w.sessions[c.Ops[j].Session]&sReserved != 0) {
			o.flags |= fRevived
		}
	}
}

// doubt is an operation without effect of which somebody later saw only that its
// object is there. Nobody can tell that it was not made, so it counts as made.
func (w *world) doubt(c *Config, i int) {
	op, self := &c.Ops[i], int(c.self[i])
	if self < 0 || w.exists&(1<<self) == 0 || op.Remove || len(op.writes) == 0 {
		return
	}
	w.owner[self] = int8(op.Session)
	if op.Make {
		w.outdate(c, i, 1<<self, true)
	}
}

// settleDown sets back to zero what cannot matter any more of an operation.
func (w *world) settleDown(i int) {
	o := &w.ops[i]
	if o.phase.over() || o.phase >= calling {
		o.version, o.life = 0, 0
		o.flags &= fVoid // until the coordinator knows how it ended
	}
}
