// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Order is in which order the calls of a plan run: a partial order, since
// Terraform sends what does not depend on each other at the same time.
type Order struct {
	// Complete is false when only the order within a replace is known. Then
	// nobody can tell what a call may have to wait for, so that whoever needs
	// several calls together has to take all of the plan.
	Complete bool
	// Why says, in half a sentence, why the order is not complete.
	Why string

	// after are the calls before a call, within only those of its group.
	after, within map[admission.CallID][]admission.CallID
}

// maxOrder bounds the names of all the calls that an order lists, in bytes. It
// is far below what a coordinator takes in one request. Modules that depend on
// each other as a whole make each call of one come after each of the other.
const maxOrder = 8 << 20

// After are the calls that must have succeeded before a call is sent, sorted;
// those of which another one must have been sent before may be left out.
func (o Order) After(id admission.CallID) []admission.CallID { return slices.Clone(o.after[id]) }

// Among is the order of some of the calls: a call that is left out passes on
// what it waits for. An order that is too long to be told is not complete.
func (o Order) Among(keep func(admission.CallID) bool) Order {
	kept := Order{Complete: o.Complete, Why: o.Why, after: contracted(o.after, keep), within: contracted(o.within, keep)}
	if kept.size() > maxOrder {
		kept.Complete, kept.Why, kept.after = false, "the order of the plan is too long", kept.within
	}
	return kept
}

// size is how long the names of all calls are that the order lists.
func (o Order) size() int {
	n := 0
	for _, before := range o.after {
		for _, id := range before {
			n += len(id)
		}
	}
	return n
}

// contracted leaves some of the calls of an order.
func contracted(after map[admission.CallID][]admission.CallID, keep func(admission.CallID) bool) map[admission.CallID][]admission.CallID {
	c := contraction[admission.CallID]{
		after: func(id admission.CallID) []admission.CallID { return after[id] },
		keep:  func(id admission.CallID) (admission.CallID, bool) { return id, keep(id) },
		known: map[admission.CallID][]admission.CallID{},
	}
	kept := map[admission.CallID][]admission.CallID{}
	for id := range after {
		if keep(id) {
			kept[id], _ = c.of(id) // an Order has no cycle
		}
	}
	return kept
}

// Order reads the order of the calls from the graph that the CLI makes of the
// plan, while it prints it: the output of "graph -type=apply -plan=PLANFILE", in the
// environment that the other commands get. It is the very graph that "apply PLANFILE" walks.
//
// Terraform's command takes no variables and needs none. OpenTofu's wants a
// value for every variable that a plan file does not keep (ephemeral ones).
func (p *Plan) Order(dot io.Reader) Order {
	g, err := readDOT(dot)
	if err != nil {
		return p.WithoutOrder(err.Error())
	}
	calls := p.callsOf(g)
	found := map[admission.CallID]bool{}
	for _, id := range calls {
		found[id] = true
	}
	for _, s := range p.steps {
		if !found[s.id] {
			return p.WithoutOrder(fmt.Sprintf("the graph of the plan does not have %q", s.id))
		}
	}
	return p.contract(g, calls)
}

// WithoutOrder is what is known of the order without the CLI's graph. why says
// what was amiss with it.
func (p *Plan) WithoutOrder(why string) Order {
	within := map[admission.CallID][]admission.CallID{}
	for _, s := range p.steps {
		within[s.id] = s.after
	}
	return Order{Why: why, after: within, within: within}
}

// The names of the graph's nodes that delete an object. Other nodes of an
// instance have its bare address, and there is one for each that is created,
// updated or left alone.
const (
	destroySuffix  = " (destroy)"
	deposedMark    = " (destroy deposed "
	deposedClosing = ")"
)

// callsOf are the calls among the nodes of a graph. The object that a create
// replaces is deposed before it is deleted, under a key that the CLI chooses
// anew whenever it makes the graph.
func (p *Plan) callsOf(g digraph) map[string]admission.CallID {
	known := map[admission.CallID]bool{}
	for _, s := range p.steps {
		known[s.id] = true
	}
	calls := map[string]admission.CallID{}
	for node := range g {
		for _, id := range candidatesOf(node) {
			if known[id] {
				calls[node] = id
				break
			}
		}
	}
	return calls
}

// candidatesOf are the ids that a node may stand for, the likeliest first.
func candidatesOf(node string) []admission.CallID {
	if address, ok := strings.CutSuffix(node, destroySuffix); ok {
		return []admission.CallID{callID(admission.Delete, address, "")}
	}
	if at := strings.LastIndex(node, deposedMark); at >= 0 {
		key, ok := strings.CutSuffix(node[at+len(deposedMark):], deposedClosing)
		if !ok {
			return nil
		}
		return []admission.CallID{callID(admission.Delete, node[:at], key), callID(admission.Delete, node[:at], "")}
	}
	return []admission.CallID{callID(admission.Create, node, ""), callID(admission.Update, node, "")}
}

// contract leaves the calls of a graph and nothing else.
func (p *Plan) contract(g digraph, calls map[string]admission.CallID) Order {
	c := contraction[string]{
		after: func(node string) []string { return g[node] },
		keep:  func(node string) (admission.CallID, bool) { id, ok := calls[node]; return id, ok },
		known: map[string][]admission.CallID{},
	}
	o := p.WithoutOrder("")
	o.Complete, o.after = true, map[admission.CallID][]admission.CallID{}
	for node, id := range calls {
		before, ok := c.of(node)
		if !ok {
			return p.WithoutOrder("the graph of the plan has a cycle")
		}
		o.after[id] = merge(o.after[id], before)
	}
	return o
}

// contraction finds the calls that a node of a graph waits for, directly or by
// way of nodes that are no calls: variables, locals, modules, providers.
type contraction[N comparable] struct {
	after func(N) []N
	// keep says which call a node is, if it is one.
	keep func(N) (admission.CallID, bool)
	// known is the answer for a node; nil while it is being found.
	known map[N][]admission.CallID
}

// of returns the calls before a node, sorted. ok is false when the graph has a
// cycle.
func (c contraction[N]) of(node N) (before []admission.CallID, ok bool) {
	if before, seen := c.known[node]; seen {
		return before, before != nil
	}
	c.known[node] = nil
	set := map[admission.CallID]bool{}
	for _, next := range c.after(node) {
		// Also what a call waits for is looked at, for the sake of cycles.
		further, ok := c.of(next)
		if !ok {
			return nil, false
		}
		if id, isCall := c.keep(next); isCall {
			set[id] = true
			continue
		}
		for _, id := range further {
			set[id] = true
		}
	}
	before = slices.Sorted(maps.Keys(set))
	if before == nil {
		before = []admission.CallID{}
	}
	c.known[node] = before
	return before, true
}

// merge joins two sorted lists.
func merge(a, b []admission.CallID) []admission.CallID {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
