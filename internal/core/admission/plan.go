// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// phase is how far a planned call has come.
type phase byte

const (
	pending phase = 'p' // not sent yet
	running phase = 'r' // sent, outcome open
	done    phase = 'd' // succeeded
	dead    phase = 'x' // failed, or never to be sent
)

// plan is an admitted reservation: the calls of one plan, and how far they are.
// Never changed, only replaced.
type plan struct {
	calls  []Planned // by id
	phases []phase
	whole  bool
	// after and next are the places of the calls directly before and behind
	// each one, group those of the calls that are one intent with it.
	after, next, group [][]int
	// made are the places of the creates of each object.
	made map[graph.NodeID][]int
}

func newPlan(r *Request) *plan {
	p := &plan{calls: r.Calls, whole: r.Whole, phases: slices.Repeat([]phase{pending}, len(r.Calls))}
	p.after = make([][]int, len(p.calls))
	p.next = make([][]int, len(p.calls))
	p.group = make([][]int, len(p.calls))
	p.made = map[graph.NodeID][]int{}
	groups := map[string][]int{}
	for i, c := range p.calls {
		if c.Action == Create {
			p.made[c.Self] = append(p.made[c.Self], i)
		}
		for _, a := range c.After {
			if j := p.find(a); j >= 0 {
				p.after[i] = append(p.after[i], j)
				p.next[j] = append(p.next[j], i)
			}
		}
		if c.Group != "" {
			groups[c.Group] = append(groups[c.Group], i)
		}
	}
	for i, c := range p.calls {
		if c.Group != "" {
			p.group[i] = groups[c.Group]
		}
	}
	return p
}

// find is the place of a call, negative if the plan has none of that name.
func (p *plan) find(id CallID) int {
	i, ok := slices.BinarySearchFunc(p.calls, id, func(c Planned, id CallID) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return -1
	}
	return i
}

func (p *plan) open(i int) bool { return p.phases[i] == pending || p.phases[i] == running }

// lost says whether a call must not be sent, because another one of its intent
// is known to fail and none of them has begun: a destroy whose create is dead.
func (p *plan) lost(i int) bool {
	failed := false
	for _, j := range p.group[i] {
		switch p.phases[j] {
		case running, done:
			return false
		case dead:
			failed = true
		}
	}
	return failed
}

// claim is the claim that begins with a call: everything that is one intent
// with a call of it, and everything unfinished that the plan orders before a
// call of it. Calls that taken names belong to an active claim, which will end
// whatever becomes of this one. It is empty for a call by itself.
func (p *plan) claim(first int, taken func(int) bool) []int {
	if len(p.group[first]) == 0 {
		return nil
	}
	in := map[int]bool{}
	var add func(i int)
	add = func(i int) {
		if in[i] || !p.open(i) || taken(i) {
			return
		}
		in[i] = true
		for _, list := range [][]int{p.after[i], p.group[i]} {
			for _, j := range list {
				add(j)
			}
		}
	}
	add(first)
	members := make([]int, 0, len(in))
	for i := range in {
		members = append(members, i)
	}
	slices.Sort(members)
	return members
}

// all are the places of all calls.
func (p *plan) all() []int {
	list := make([]int, len(p.calls))
	for i := range list {
		list[i] = i
	}
	return list
}

// locks is what calls hold together.
func (p *plan) locks(members []int) lock.Plan {
	plans := make([]lock.Plan, 0, len(members))
	for _, i := range members {
		plans = append(plans, p.calls[i].Locks)
	}
	return lock.Union(plans...)
}

// guards are the conditions of calls that can be judged before they are sent.
// What is created anew has no life yet to compare; where it is replaced, its
// delete has.
func (p *plan) guards(members []int) []Guard {
	var list []Guard
	for _, i := range members {
		for _, g := range p.calls[i].Guards {
			if g.Kind == Present || (g.Kind == SameLife || g.Kind == PlannedAt) && p.calls[i].Action != Create {
				list = append(list, g)
			}
		}
	}
	return list
}

// makes says whether the plan has yet to make an object, or is making it. What it
// has made is in the graph, where somebody else may have deleted it since.
func (p *plan) makes(id graph.NodeID) bool { return slices.ContainsFunc(p.made[id], p.open) }

// with is the plan after a call has come further. What comes after a failed
// call is never sent, and neither are the others of an intent that has not
// begun.
func (p *plan) with(i int, f phase) *plan {
	c := *p
	c.phases = slices.Clone(p.phases)
	c.phases[i] = f
	if f == dead {
		c.spread(i)
	}
	return &c
}

// without is the plan after the outcome of a call was lost: its run does not
// send what comes after it.
func (p *plan) without(i int) *plan {
	c := *p
	c.phases = slices.Clone(p.phases)
	c.spread(i)
	return &c
}

// spread marks as dead what will not be sent because of a call.
func (p *plan) spread(i int) {
	for _, j := range p.next[i] {
		if p.phases[j] == pending {
			p.phases[j] = dead
			p.spread(j)
		}
	}
	for _, j := range p.group[i] {
		if p.phases[j] == pending && p.lost(j) {
			p.phases[j] = dead
			p.spread(j)
		}
	}
}

// mixed says whether the intent of a call has begun and, as things are, not
// ended.
func (p *plan) mixed(i int) bool {
	begun, left := false, false
	for _, j := range p.group[i] {
		begun = begun || p.phases[j] == running || p.phases[j] == done
		left = left || p.phases[j] == pending || p.phases[j] == dead
	}
	return begun && left
}

func (p *plan) marks() string {
	var b strings.Builder
	for _, f := range p.phases {
		b.WriteByte(byte(f))
	}
	return b.String()
}

// restored is the plan with the phases that marks gives.
func (p *plan) restored(marks string) (*plan, error) {
	if len(marks) != len(p.calls) || strings.Trim(marks, "prdx") != "" {
		return nil, fmt.Errorf("%w: phases %q of %d calls", ErrMalformed, marks, len(p.calls))
	}
	c := *p
	c.phases = []phase(marks)
	return &c, nil
}

// order is the partial order of the calls that have an effect on capacity.
// An order between two of them by way of others stays.
func (p *plan) order() (escrow.Order, error) {
	nearest := make([][]CallID, len(p.calls))
	seen := make([]bool, len(p.calls))
	var before func(i int) []CallID
	before = func(i int) []CallID {
		if seen[i] {
			return nearest[i]
		}
		seen[i] = true
		var list []CallID
		for _, j := range p.after[i] {
			if len(p.calls[j].Effects) > 0 {
				list = append(list, p.calls[j].ID)
			} else {
				list = append(list, before(j)...)
			}
		}
		slices.Sort(list)
		nearest[i] = slices.Compact(list)
		return nearest[i]
	}
	var calls []escrow.Call
	for i, c := range p.calls {
		if len(c.Effects) > 0 {
			calls = append(calls, escrow.Call{ID: c.ID, Effects: c.Effects, After: before(i)})
		}
	}
	if len(calls) == 0 {
		return nil, nil
	}
	return escrow.Arrange(calls...)
}
