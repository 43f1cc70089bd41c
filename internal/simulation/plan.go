// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// planned is one call of a run's plan.
type planned struct {
	id     admission.CallID
	thing  *thing
	action admission.Action
	group  string
	after  []*planned
	// have and want are the sizes of a machine before and afterwards.
	have, want string
	lowered    ruleengine.Lowered
	// uid is the life of the object that the plan was made on; empty for none.
	uid string
	// state of the call in its run
	begun, ended, succeeded bool
}

// sight is what a run has seen of one of its things before it planned.
type sight struct {
	there bool
	uid   string
	size  string
}

// fate is what a plan does with a thing.
type fate int

const (
	keep fate = iota
	make_
	update
	replace
	remove
)

// plan decides what a run does, from what it saw: it makes most of what is not
// there, and changes, replaces and removes some of what is. What refers to
// something that goes away goes with it, as far as it is this run's own.
func (x *run) plan(seen map[*thing]sight) []*planned {
	fates := map[*thing]fate{}
	for _, t := range x.space.things { // in an order in which references come first
		fates[t] = x.fate(t, seen[t], fates)
	}
	return x.arrange(fates, seen)
}

func (x *run) fate(t *thing, s sight, fates map[*thing]fate) fate {
	w := x.w
	must := keep
	for _, r := range t.refs {
		switch fates[r] {
		case replace:
			must = max(must, replace)
		case remove:
			must = remove
		}
	}
	switch {
	case x.destroys || must == remove:
		if s.there {
			return remove
		}
		return remove + 1 // not there, and stays so
	case !s.there:
		for _, r := range t.refs {
			if fates[r] > remove || !x.seen[r].there && !slices.Contains(x.space.things, r) && w.rng.IntN(5) > 0 {
				return remove + 1
			}
		}
		if w.rng.IntN(8) == 0 {
			return remove + 1
		}
		return make_
	case must == replace:
		return replace
	}
	switch n := w.rng.IntN(100); {
	case n < 45 && t.typ != association:
		return update
	case n < 60:
		return replace
	case n < 70:
		return remove
	}
	return keep
}

// arrange makes the calls of a plan in Terraform's order: what is needed is made
// first, and removed last.
func (x *run) arrange(fates map[*thing]fate, seen map[*thing]sight) []*planned {
	var all []*planned
	up, down := map[*thing]*planned{}, map[*thing]*planned{}
	add := func(t *thing, a admission.Action) *planned {
		s := seen[t]
		c := &planned{id: admission.CallID(fmt.Sprintf("%s/%s", t.address, a)), thing: t, action: a, uid: s.uid, have: s.size, want: t.size}
		if fates[t] == replace {
			c.group = t.address
		}
		if fates[t] != replace && a == admission.Update && t.size != "" && x.w.rng.IntN(2) == 0 {
			c.want = "Standard_D4s_v5"
		}
		all = append(all, c)
		return c
	}
	for _, t := range x.space.things {
		switch fates[t] {
		case make_:
			up[t] = add(t, admission.Create)
		case update:
			up[t] = add(t, admission.Update)
		case remove:
			down[t] = add(t, admission.Delete)
		case replace:
			down[t], up[t] = add(t, admission.Delete), add(t, admission.Create)
		}
	}
	for _, t := range x.space.things {
		order(t, up, down)
	}
	slices.SortFunc(all, func(a, b *planned) int { return cmp.Compare(a.id, b.id) })
	return all
}

func order(t *thing, up, down map[*thing]*planned) {
	if up[t] != nil && down[t] != nil {
		up[t].after = append(up[t].after, down[t])
	}
	for _, r := range t.refs {
		if up[t] != nil && up[r] != nil {
			up[t].after = append(up[t].after, up[r])
		}
		if down[t] != nil && down[r] != nil {
			down[r].after = append(down[r].after, down[t])
		}
	}
}

// live is the live graph as a run has just looked it up.
type live map[graph.NodeID]found

// Neighbours implements ruleengine.Graph.
func (l live) Neighbours(_ context.Context, id graph.NodeID, kind graph.EdgeKind, out bool) ([]graph.Decl, uint64, bool, error) {
	f, ok := l[id]
	if !ok || !f.known {
		return nil, 0, false, nil
	}
	edges := f.in
	if out {
		edges = f.out
	}
	var list []graph.Decl
	for _, e := range edges {
		to := e.To
		if !out {
			to = e.From
		}
		if e.Kind != kind {
			continue
		}
		if n, ok := l[to]; ok {
			list = append(list, n.node.Decl)
		}
	}
	return list, f.node.Version, true, nil
}

// lower says what a call asks of the coordinator.
func (x *run) lower(c *planned, graph live) (ruleengine.Lowered, error) {
	return x.w.engine.Lower(x.w.ctx, c.thing.operation(c.action, x.session, c.have, c.want), graph)
}

// request completes what was lowered by what only the run knows.
func (x *run) request(c *planned, l ruleengine.Lowered) admission.Request {
	r := l.Request
	r.Session = x.session
	if life, ok := x.lives[r.Self]; ok {
		r.Guards = append(slices.Clone(r.Guards), admission.Guard{Kind: admission.SameLife, Node: r.Self, Value: life})
	}
	return x.w.flaw.request(r)
}

// reservation is the request for what the plan needs together; ok is false when
// it needs nothing.
func (x *run) reservation(calls []*planned) (r admission.Request, ok bool) {
	r = admission.Request{Session: x.session, Action: admission.Reserve, Whole: x.w.rng.IntN(12) == 0}
	ok = r.Whole
	placed := map[graph.NodeID]bool{}
	for _, c := range calls {
		l := x.request(c, c.lowered)
		for _, n := range l.Nodes {
			if !placed[n.ID] {
				placed[n.ID] = true
				r.Nodes = append(r.Nodes, n)
			}
		}
		p := admission.Planned{
			ID: c.id, Self: l.Self, Action: l.Action, Address: c.thing.address,
			Locks: l.Locks, Guards: l.Guards, Effects: l.Effects, Group: c.group,
		}
		if x.w.flaw.noClaims {
			p.Group = ""
		}
		for _, a := range c.after {
			p.After = append(p.After, a.id)
		}
		slices.Sort(p.After)
		p.After = slices.Compact(p.After)
		ok = ok || c.group != "" || len(l.Effects) > 0
		r.Calls = append(r.Calls, p)
	}
	return r, ok
}
