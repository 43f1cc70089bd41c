// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// beginnings are the clouds that configurations start with.
var beginnings = []struct {
	name  string
	there map[graph.NodeID]int
	links map[graph.NodeID]graph.NodeID
	blind bool
}{
	{name: "empty", blind: true},
	{name: "group", there: map[graph.NodeID]int{group: 0}},
	{
		name: "full", there: map[graph.NodeID]int{group: -1, net: 0, sub1: 0, sg: -1, nic: 1},
		links: map[graph.NodeID]graph.NodeID{nic: sub1},
	},
	{name: "shared", there: map[graph.NodeID]int{group: 0, net: 0, sub1: 1, sg: 1}},
}

// Generate yields configurations systematically: every choice of size
// operations for the sessions of each assignment, in every beginning, under
// both policies for the last session. A stride above 1 takes every so many.
func Generate(size, stride int) iter.Seq[*Config] {
	names := slices.Sorted(maps.Keys(templates))
	return func(yield func(*Config) bool) {
		n := 0
		for _, sessions := range assignments(size) {
			for choice := range choices(len(names), size) {
				for b := range beginnings {
					n++
					if n%stride != 0 {
						continue
					}
					if !yield(generated(names, choice, sessions, b, n)) {
						return
					}
				}
			}
		}
	}
}

// assignments say which session makes which operation.
func assignments(size int) [][]int {
	switch size {
	case 2:
		return [][]int{{0, 1}, {0, 0}}
	case 3:
		return [][]int{{0, 1, 1}, {0, 1, 2}, {0, 0, 1}}
	default:
		return [][]int{{0, 0, 1, 1}, {0, 0, 1, 2}}
	}
}

// choices yields every list of size numbers below n.
func choices(n, size int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		list := make([]int, size)
		for {
			if !yield(list) {
				return
			}
			i := 0
			for ; i < size; i++ {
				if list[i]++; list[i] < n {
					break
				}
				list[i] = 0
			}
			if i == size {
				return
			}
		}
	}
}

func generated(names []string, choice, sessions []int, b, n int) *Config {
	begin := beginnings[b]
	c := &Config{There: begin.there, Links: begin.links, Blind: begin.blind, Faults: 1}
	count := max(2, slices.Max(sessions)+1)
	var parts []string
	for i, k := range choice {
		op := templates[names[k]]()
		op.Name, op.Session = names[k], sessions[i]
		c.Ops = append(c.Ops, op)
		parts = append(parts, fmt.Sprintf("s%d %s", sessions[i], names[k]))
	}
	for range count {
		c.Policies = append(c.Policies, admission.Queue)
	}
	// Policies, mishaps and readers change with the number of the
	// configuration, out of step with the beginnings.
	if n/4%3 == 0 {
		c.Policies[count-1] = admission.Reject
	}
	if n/4%2 == 0 {
		c.Reads = c.Ops[0].Self
	}
	if len(choice) == 2 {
		c.Faults = 2
	}
	order(c.Ops)
	c.Name = fmt.Sprintf("#%d %s: %s (%v, reads %q)", n, begin.name, strings.Join(parts, ", "), c.Policies, c.Reads)
	return c
}

// scenario is a configuration by hand.
func scenario(name string, beginning int, faults int, policies []admission.Policy, ops ...string) *Config {
	b := beginnings[beginning]
	c := &Config{Name: name, There: b.there, Links: b.links, Blind: b.blind, Faults: faults, Policies: policies}
	for _, o := range ops {
		var session int
		var kind string
		if _, err := fmt.Sscanf(o, "s%d %s", &session, &kind); err != nil || templates[kind] == nil {
			panic("no operation " + o)
		}
		op := templates[kind]()
		op.Name, op.Session = kind, session
		c.Ops = append(c.Ops, op)
	}
	order(c.Ops)
	return c
}
