// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/view"
)

// node is a distinct state of the core, with the marks of the reads that are
// under way, and what the rest of a world asks about it.
type node struct {
	state *admission.State
	marks [2]uint64 // where the reads of the object and of the buckets began
	hash  [32]byte
	facts
	edges []edge
}

// edge is what a command does to a node, found out once.
type edge struct {
	command command
	to      uint32
	refusal refusal
	report  *report // nil if nothing has to be judged by the cloud
}

// refusal is why the core did not take a command.
type refusal uint8

const (
	accepted refusal = iota
	noSession
	wrongStatus
	wrongToken
	unsettled
	otherPlan // the coordinator has it under another plan
)

// core holds the distinct states of the core of one configuration. The real core
// executes each command on each of them once.
type core struct {
	config *Config
	nodes  []*node
	index  map[identity]uint32
	probe  *coverage
	edges  int
	lenses []*view.Lens
	limit  int // of nodes; what would lead beyond is not followed
	codec  int // every how many edges are encoded and decoded as well
}

// identity is equal for states that decide alike: the fingerprint, which puts
// the marks in their order, and of the times that matter whether they have come.
type identity struct {
	print [32]byte
	times uint32
}

func newCore(c *Config, probe *coverage, codec int) *core {
	return &core{config: c, index: map[identity]uint32{}, lenses: lenses(c), probe: probe, codec: codec}
}

// intern finds a state among the known ones, or judges it and takes it up.
func (k *core) intern(n *node) (uint32, error) {
	var marks []uint64
	for _, m := range n.marks {
		if m != 0 {
			marks = append(marks, m)
		}
	}
	id := identity{print: n.state.Fingerprint(marks...), times: n.times(k.config)}
	if at, ok := k.index[id]; ok {
		return at, nil
	}
	n.facts = factsOf(k.config, n.state)
	n.readable, n.stale = uint8(id.times), uint8(id.times>>8)
	if v := checkState(k.config, n); v != nil {
		return 0, v
	}
	if v := k.probe.try(k.config, n, k.codec > 0 && len(k.nodes)%k.codec == 0); v != nil {
		return 0, v
	}
	at := uint32(len(k.nodes))
	k.nodes = append(k.nodes, n)
	k.index[id] = at
	return at, nil
}

// times says which uncertain calls a read settles whatever it finds, and which
// stale ones have lost their place.
func (n *node) times(c *Config) uint32 {
	var bits uint32
	for i := range c.Ops {
		tx, ok := n.state.Tx(txID(i))
		switch {
		case !ok:
		case tx.Status == admission.Uncertain:
			if at := n.state.Readable(tx.ID); at != 0 && at <= n.state.Now() {
				bits |= 1 << i
			}
		case tx.Status == admission.Stale && n.state.Now()-tx.EndedAt > admission.StaleGrace:
			bits |= 1 << (8 + i)
		}
	}
	return bits
}

// errFull says that the budget of a configuration allows no more states of the
// core. The worlds around those that it has are explored all the same.
var errFull = errors.New("the budget is used up")

// step follows a command from a node, executing it if that was not done before.
func (k *core) step(from uint32, x command) (*edge, error) {
	n := k.nodes[from]
	for i := range n.edges {
		if n.edges[i].command == x {
			return &n.edges[i], nil
		}
	}
	if k.limit > 0 && len(k.nodes) >= k.limit {
		return nil, errFull
	}
	e, err := k.execute(n, from, x)
	if err != nil {
		return nil, err
	}
	n.edges = append(n.edges, e)
	k.edges++
	return &n.edges[len(n.edges)-1], nil
}

// execute lets the real core decide, and judges the decision.
func (k *core) execute(n *node, from uint32, x command) (edge, error) {
	next := &node{state: n.state.Clone(), marks: n.marks, hash: n.hash}
	e := edge{command: x, to: from}
	switch x.verb {
	case cLook:
		next.marks[x.who] = n.state.Index()
	case cSee:
		next.marks[0] = 0
	case cMeter:
		next.marks[1] = 0
	}
	var events []admission.Event
	for _, c := range n.commands(k.config, x) {
		more, err := k.apply(next, c)
		if v := new(Violation); errors.As(err, &v) {
			return e, v
		}
		if err != nil {
			e.refusal = refusalOf(err)
			if e.refusal == accepted {
				return e, broken("Life", "%T: %v", c, err)
			}
			return e, nil
		}
		events = append(events, more...)
	}
	var v *Violation
	if e.report, v = judge(k.config, n, next, x, events); v != nil {
		return e, v
	}
	if v := checkViews(k.lenses, n.state, next.state, events); v != nil {
		return e, v
	}
	var err error
	e.to, err = k.intern(next)
	return e, err
}

func refusalOf(err error) refusal {
	switch {
	case errors.Is(err, admission.ErrNoSession):
		return noSession
	case errors.Is(err, admission.ErrStatus), errors.Is(err, admission.ErrNoTx):
		return wrongStatus
	case errors.Is(err, admission.ErrToken):
		return wrongToken
	case errors.Is(err, admission.ErrUnsettled):
		return unsettled
	case errors.Is(err, admission.ErrKeyReused):
		return otherPlan
	default:
		return accepted
	}
}

// apply decides one command and checks what replay makes of the decisions.
func (k *core) apply(n *node, c admission.Command) (events []admission.Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken("I14 ReplayEqual", "%T: %v", c, r)
		}
	}()
	before := n.state.Clone()
	events, err = n.state.Apply(c)
	if err != nil || len(events) == 0 {
		if n.state.Index() != before.Index() {
			return nil, broken("I27 SameKeySameAnswer", "%T has no events and is counted", c)
		}
		return nil, err
	}
	n.hash = n.state.Hash()
	if v := checkReplay(before, n, c, events, k.codec > 0 && k.edges%k.codec == 0); v != nil {
		return nil, v
	}
	return events, nil
}

// begin opens the sessions and lets the coordinator see the cloud.
func (k *core) begin() (uint32, []admission.Command, error) {
	n := &node{state: admission.New()}
	var done []admission.Command
	for _, c := range n.beginning(k.config) {
		if _, err := k.apply(n, c); err != nil {
			return 0, nil, fmt.Errorf("%s: %T: %w", k.config.Name, c, err)
		}
		done = append(done, c)
	}
	at, err := k.intern(n)
	return at, done, err
}

// objectsOf are the objects that a session is known to own.
func objectsOf(c *Config, s int) []int {
	var list []int
	for i, o := range c.Objects {
		if owner, ok := c.There[o]; ok && owner == s {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}
