// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"fmt"
	"iter"

	"github.com/tfweaver/tfweaver/internal/core/admission"
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

// Generate yields n configurations of two or three runs, beginning with the one
// of a seed.
func Generate(seed, n int) iter.Seq[*Config] {
	return func(yield func(*Config) bool) {
		for i := seed; i < seed+n; i++ {
			if !yield(configOf(i)) {
				return
			}
		}
	}
}

func configOf(seed int) *Config {
	d := draw(seed)
	c := &Config{Name: fmt.Sprintf("seed %d", seed), Faults: 1 + d.below(2)}
	for b := range buckets {
		c.Limits[b], c.Use[b] = int64(3+d.below(3)), int64(d.below(3))
	}
	count, calls := 2, 0
	if d.below(4) == 0 {
		count = maxRuns
	}
	for range count {
		r := Run{Policy: admission.Queue}
		if d.below(6) == 0 {
			r.Policy = admission.Reject
		}
		r.Whole = d.below(8) == 0
		for range 1 + d.below(2) {
			if part := pattern(&d, len(r.Calls)); calls+len(part) <= 7 && len(r.Calls)+len(part) <= maxCalls && apart(r.Calls, part) {
				r.Calls, calls = append(r.Calls, part...), calls+len(part)
			}
		}
		if len(r.Calls) == 0 {
			r.Calls = []Call{update(&d, "update", d.below(nodeCount))}
			calls++
		}
		c.Runs = append(c.Runs, r)
	}
	c.vary(&d, calls)
	return c
}

// vary adds what only some configurations have.
func (c *Config) vary(d *draw, calls int) {
	c.Read, c.Shift, c.Restart = d.below(3) == 0, d.below(4) == 0, d.below(4) == 0
	last := &c.Runs[len(c.Runs)-1]
	switch d.below(5) {
	case 0:
		last.Watch, last.Whole = true, false
		for i := range last.Calls {
			last.Calls[i].Effects = [buckets]int64{}
		}
	case 1:
		extra := update(d, "extra update", d.below(nodeCount))
		extra.Extra = true
		extra.Effects[d.below(buckets)] = int64(d.below(2))
		if calls < 7 && len(last.Calls) < maxCalls && apart(last.Calls, []Call{extra}) {
			last.Calls = append(last.Calls, extra)
		}
	}
}

// apart says whether two parts of one run are about different objects: a plan
// changes each object once.
func apart(have, more []Call) bool {
	for _, a := range have {
		for _, b := range more {
			if inside(a.Self, b.Self) || inside(b.Self, a.Self) {
				return false
			}
		}
	}
	return true
}

func update(d *draw, name string, self int) Call {
	c := Call{Name: fmt.Sprintf("%s %s", name, nodes[self]), Self: self, Action: admission.Update}
	if d.below(3) == 0 {
		c.Reads = []int{(self + 1) % 3}
	}
	return c
}

// pattern is one thing that runs do; its calls are numbered from base.
func pattern(d *draw, base int) []Call {
	n, b, more := d.below(3), d.below(buckets), int64(d.below(3))
	effect := func(amount int64) (e [buckets]int64) { e[b] = amount; return e }
	del := func(self, group int, after ...int) Call {
		return Call{Name: "delete " + string(nodes[self]), Self: self, Action: admission.Delete, Group: group, After: after}
	}
	create := func(self, group int, after ...int) Call {
		return Call{Name: "create " + string(nodes[self]), Self: self, Action: admission.Create, Group: group, After: after}
	}
	group := base + 1
	switch d.below(8) {
	case 0: // replace, the old one first
		old, fresh := del(n, group), create(n, group, base)
		old.Effects, fresh.Effects = effect(-1), effect(more)
		return []Call{old, fresh}
	case 1: // replace, the new one first
		fresh, old := create(n, group), del((n+1)%3, group, base)
		fresh.Effects, old.Effects = effect(1+more), effect(-1)
		return []Call{fresh, old}
	case 2: // parent and child, both replaced
		return []Call{
			del(child, group), del(parent, group+1, base),
			create(parent, group+1, base+1), create(child, group, base, base+2),
		}
	case 3: // something new
		c := create(n, 0)
		c.Effects = effect(1 + more)
		return []Call{c}
	case 4: // two steps
		second := update(d, "update", (n+1)%3)
		second.After = []int{base}
		return []Call{update(d, "update", n), second}
	case 5: // a replace whose new object needs something else first
		first := update(d, "update", (n+1)%3)
		old, fresh := del(n, group), create(n, group, base, base+1)
		old.Effects, fresh.Effects = effect(-1), effect(1+more)
		return []Call{first, old, fresh}
	case 6:
		c := del(n, 0)
		c.Effects = effect(-1)
		return []Call{c}
	default:
		return []Call{update(d, "update", parent+d.below(2))}
	}
}
