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

// beginnings are the clouds that configurations of the network start with.
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

// Networks yields configurations systematically: every choice of size operations
// for the sessions of each assignment, in every beginning. A stride above 1 takes
// every so many.
func Networks(size, stride int) iter.Seq[*Config] {
	names := slices.Sorted(maps.Keys(templates))
	return func(yield func(*Config) bool) {
		n := 0
		for _, sessions := range assignments(size) {
			for choice := range choices(len(names), size) {
				for b := range beginnings {
					n++
					if n%stride == 0 && !yield(generated(names, choice, sessions, b, n)) {
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
	c := beginning(b)
	c.Faults = 1
	var parts []string
	for i, k := range choice {
		op := templates[names[k]]()
		op.Name, op.Session = names[k], sessions[i]
		c.Ops = append(c.Ops, op)
		parts = append(parts, fmt.Sprintf("s%d %s", sessions[i], names[k]))
	}
	for range max(2, slices.Max(sessions)+1) {
		c.Sessions = append(c.Sessions, Session{Policy: admission.Queue})
	}
	// Policies, mishaps and readers change with the number of the configuration,
	// out of step with the beginnings.
	if n/4%3 == 0 {
		c.Sessions[len(c.Sessions)-1].Policy = admission.Reject
	}
	if n/4%2 == 0 && len(choice) < 4 {
		c.Reads = c.Ops[0].Self
	}
	c.Dup, c.Pass, c.Views, c.Journal = n/4%4 == 1, n/4%5 == 3, n/4%7 == 2, true
	if len(choice) == 2 {
		c.Faults = 2
	}
	order(c.Ops)
	c.Name = fmt.Sprintf("network/%d/%d %s: %s", len(choice), n, beginnings[b].name, strings.Join(parts, ", "))
	return c
}

func beginning(b int) *Config {
	x := beginnings[b]
	return &Config{Objects: network, There: x.there, Links: x.links, Blind: x.blind}
}

// scenario is a configuration of the network by hand.
func scenario(name string, begin, faults int, policies []admission.Policy, ops ...string) *Config {
	c := beginning(begin)
	c.Name, c.Faults, c.Journal = name, faults, true
	for _, p := range policies {
		c.Sessions = append(c.Sessions, Session{Policy: p})
	}
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

// Scenarios are configurations worth exploring in full.
func Scenarios() []*Config {
	queue, reject := admission.Queue, admission.Reject
	both := []admission.Policy{queue, queue}
	again := scenario("made again", 2, 1, []admission.Policy{queue, queue, queue}, "s0 make-s1", "s1 make-nic", "s2 change-nic")
	again.Journal = false // small enough to be searched in full
	return []*Config{
		again,
		scenario("crossing", 3, 2, both, "s0 join-sg-s1", "s1 change-s1", "s1 join-sg-s1"),
		scenario("reference", 2, 2, both, "s0 drop-s1", "s1 make-nic", "s1 drop-nic"),
		scenario("two makers", 1, 2, both, "s0 make-net-once", "s1 make-net-once", "s1 make-s1"),
		scenario("lost while promised", 3, 2, []admission.Policy{queue, reject}, "s0 make-s1", "s1 join-sg-s1", "s1 drop-s1"),
		scenario("no patience", 1, 1, []admission.Policy{queue, reject}, "s0 make-net", "s1 make-s1", "s1 make-s2"),
		scenario("paper", 0, 1, both, "s0 make-group", "s0 make-net", "s0 make-s1", "s1 make-s2"),
		scenario("replace", 2, 1, both, "s1 drop-nic", "s0 drop-net", "s0 make-net", "s1 make-s2"),
	}
}
