// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"iter"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// draw takes numbers out of one seed, the same ones for the same seed.
type draw uint64

func (d *draw) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	v := uint64(*d)
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return int((v ^ v>>31) % uint64(n))
}

// Runs yields n configurations of whole runs, beginning with the one of a seed.
func Runs(seed, n int) iter.Seq[*Config] {
	return func(yield func(*Config) bool) {
		for i := seed; i < seed+n; i++ {
			if !yield(runsOf(i)) {
				return
			}
		}
	}
}

// Telling are the seeds of runs that have shown much for their size: each finds a
// fault of the core early that others find late or never.
func Telling() []*Config {
	var list []*Config
	for _, seed := range []int{3, 4, 6, 86, 102, 103, 104, 121, 133} {
		list = append(list, runsOf(seed))
	}
	return append(list, crossingRuns())
}

// crossingRuns are two replaces of which each needs, before its create, a change
// of what the other one replaces.
func crossingRuns() *Config {
	c := &Config{Name: "runs/crossing", Objects: plain, Capacity: true, Limits: [buckets]int8{3, 3}, There: map[graph.NodeID]int{}}
	for s, n := range [][2]graph.NodeID{{"r/x", "r/y"}, {"r/y", "r/x"}} {
		base := len(c.Ops)
		c.Ops = append(c.Ops, change(n[1]), destroy(n[0], base+1), build(n[0], base+1, base, base+1))
		for i := base; i < len(c.Ops); i++ {
			c.Ops[i].Session = s
		}
		c.Sessions = append(c.Sessions, Session{Policy: admission.Queue})
	}
	c.finishRuns()
	return c
}

// most is the number of calls of all runs together.
const most = 7

func runsOf(seed int) *Config {
	d := draw(seed)
	c := &Config{Name: fmt.Sprintf("runs/%d", seed), Faults: 1 + d.below(2), Objects: plain, Capacity: true, There: map[graph.NodeID]int{}}
	for b := range buckets {
		c.Limits[b], c.Use[b] = int8(3+d.below(3)), int8(d.below(3))
	}
	count := 2
	if d.below(4) == 0 {
		count = maxSessions
	}
	for s := range count {
		x := Session{Policy: admission.Queue}
		if d.below(6) == 0 {
			x.Policy = admission.Reject
		}
		x.Whole = d.below(8) == 0
		c.fill(&d, s)
		c.Sessions = append(c.Sessions, x)
	}
	c.vary(&d)
	c.finishRuns()
	return c
}

// fill gives a session something to do.
func (c *Config) fill(d *draw, s int) {
	base := len(c.Ops)
	for range 1 + d.below(2) {
		part := pattern(d, len(c.Ops))
		if len(c.Ops)+len(part) <= most && apart(c.Ops[base:], part) {
			c.Ops = append(c.Ops, part...)
		}
	}
	if len(c.Ops) == base && len(c.Ops) < maxOps {
		c.Ops = append(c.Ops, updateOf(d, plain[d.below(len(plain))]))
	}
	for i := base; i < len(c.Ops); i++ {
		c.Ops[i].Session = s
	}
}

// vary adds what only some configurations have.
func (c *Config) vary(d *draw) {
	c.Meter, c.Shift, c.Journal = d.below(3) == 0, d.below(4) == 0, d.below(2) == 0
	last := len(c.Sessions) - 1
	var own []Op
	for i := range c.Ops {
		if c.Ops[i].Session == last {
			own = append(own, c.Ops[i])
		}
	}
	switch d.below(5) {
	case 0:
		c.Sessions[last].Watch, c.Sessions[last].Whole = true, false
		for i := range c.Ops {
			if c.Ops[i].Session == last {
				c.Ops[i].Effects = [buckets]int8{}
			}
		}
	case 1:
		extra := updateOf(d, plain[d.below(len(plain))])
		extra.Name, extra.Extra, extra.Session = "extra "+extra.Name, true, last
		extra.Effects[d.below(buckets)] = int8(d.below(2))
		if len(c.Ops) < most && apart(own, []Op{extra}) {
			c.Ops = append(c.Ops, extra)
		}
	}
}

// finishRuns says what is there at first, who reserves, and which calls are
// planned on the life of their object: those on objects that their own run does
// not make.
func (c *Config) finishRuns() {
	for _, id := range c.Objects {
		c.There[id] = -1
	}
	for i := range c.Ops {
		op := &c.Ops[i]
		made, deleted := false, false
		for j := range c.Ops {
			same := c.Ops[j].Session == op.Session && c.Ops[j].Self == op.Self
			made = made || same && c.Ops[j].Make
			deleted = deleted || same && c.Ops[j].Remove
		}
		if op.Make && !deleted {
			delete(c.There, op.Self)
		}
		if !made || op.Remove {
			op.guard(admission.SameLife, op.Self)
		}
		if op.Group != 0 || op.Effects != [buckets]int8{} && !op.Extra || c.Sessions[op.Session].Whole {
			c.Sessions[op.Session].Reserve = true
		}
	}
}

// apart says whether two parts of one run are about different objects: a plan
// changes each object once.
func apart(have, more []Op) bool {
	for _, a := range have {
		if slices.ContainsFunc(more, func(b Op) bool { return inside(a.Self, b.Self) || inside(b.Self, a.Self) }) {
			return false
		}
	}
	return true
}

func updateOf(d *draw, self graph.NodeID) Op {
	if at := slices.Index(plain, self); d.below(3) == 0 {
		return change(self, plain[(at+1)%3])
	}
	return change(self)
}

// pattern is one thing that runs do; its calls are numbered from base.
func pattern(d *draw, base int) []Op {
	at, b, more := d.below(3), d.below(buckets), int8(d.below(3))
	n, next := plain[at], plain[(at+1)%3]
	with := func(o Op, amount int8) Op { o.Effects[b] = amount; return o }
	group := base + 1
	const parent, child = graph.NodeID("r/p"), graph.NodeID("r/p/c")
	switch d.below(8) {
	case 0: // replace, the old one first
		return []Op{with(destroy(n, group), -1), with(build(n, group, base), more)}
	case 1: // replace, the new one first
		return []Op{with(build(n, group), 1+more), with(destroy(next, group, base), -1)}
	case 2: // parent and child, both replaced
		return []Op{
			destroy(child, group), destroy(parent, group+1, base),
			build(parent, group+1, base+1), build(child, group, base, base+2),
		}
	case 3: // something new
		return []Op{with(build(n, 0), 1+more)}
	case 4: // two steps
		second := updateOf(d, next)
		second.After = []int{base}
		return []Op{updateOf(d, n), second}
	case 5: // a replace whose new object needs something else first
		return []Op{updateOf(d, next), with(destroy(n, group), -1), with(build(n, group, base, base+1), 1+more)}
	case 6:
		return []Op{with(destroy(n, 0), -1)}
	default:
		return []Op{updateOf(d, plain[3+d.below(2)])}
	}
}
