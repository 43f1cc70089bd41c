// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// canonical writes values so that equal states give equal bytes, and different
// ones different bytes: every string and list carries its length.
//
// An abstract writer leaves out what no decision depends on, and replaces by
// their order the numbers that only matter by their order. See
// [State.Fingerprint].
type canonical struct {
	buffer
	abstract bool
	indexes  ranks // only when abstract
	tickets  ranks // only when abstract
}

// ranks are numbers of which the order is all that counts: distinct and sorted.
type ranks []uint64

// of is the rank of a number.
func (r ranks) of(v uint64) uint64 {
	at, _ := slices.BinarySearch(r, v)
	return uint64(at)
}

func (r *ranks) add(v uint64) {
	if at, found := slices.BinarySearch(*r, v); !found {
		*r = slices.Insert(*r, at, v)
	}
}

// time is abstract up to whether it was reached.
func (c *canonical) time(v int64) {
	if c.abstract {
		c.flag(v != 0)
		return
	}
	c.number(uint64(v))
}

// token is abstract up to whether it was given.
func (c *canonical) token(v uint64) {
	if c.abstract {
		c.flag(v != 0)
		return
	}
	c.number(v)
}

func (c *canonical) index(v uint64) {
	if c.abstract {
		v = c.indexes.of(v)
	}
	c.number(v)
}

func (c *canonical) ticket(v uint64) {
	if c.abstract {
		i, found := slices.BinarySearch(c.tickets, v)
		if !found {
			i = -1
		}
		v = uint64(i + 1)
	}
	c.number(v)
}

func (c *canonical) decl(d graph.Decl) {
	c.text(string(d.ID))
	c.text(string(d.Parent))
	c.text(string(d.Kind))
	c.text(d.Type)
}

func (c *canonical) ids(list []graph.NodeID) {
	c.number(uint64(len(list)))
	for _, id := range list {
		c.text(string(id))
	}
}

func (c *canonical) edges(list []graph.Edge) {
	c.number(uint64(len(list)))
	for _, e := range list {
		c.text(string(e.From))
		c.text(string(e.To))
		c.text(string(e.Kind))
	}
}

func (c *canonical) request(r *Request) {
	for _, s := range []string{
		string(r.Session), string(r.Intent), r.Address, r.Type, string(r.Action), string(r.Self),
	} {
		c.text(s)
	}
	c.number(r.Key)
	c.number(uint64(len(r.Nodes)))
	for _, d := range r.Nodes {
		c.decl(d)
	}
	c.plan(r.Locks)
	c.guards(r.Guards)
	c.edges(r.Edges)
	c.flag(r.KeepEdges)
	c.edges(r.AddEdges)
	c.edges(r.DropEdges)
	c.effects(r.Effects)
	c.text(string(r.Plan))
	c.text(string(r.Call))
	c.number(uint64(len(r.Calls)))
	for _, p := range r.Calls {
		c.planned(p)
	}
	c.flag(r.Whole)
	c.flag(r.Advisory)
	c.number(uint64(r.Lands))
	c.number(uint64(r.Timeout))
}

func (c *canonical) guards(list []Guard) {
	c.number(uint64(len(list)))
	for _, g := range list {
		c.text(string(g.Kind))
		c.text(string(g.Node))
		c.number(g.Value)
		c.text(g.Rule)
	}
}

func (c *canonical) effects(list escrow.Effects) {
	c.number(uint64(len(list)))
	for _, e := range list {
		c.text(string(e.Bucket))
		c.amount(e.Amount)
	}
}

func (c *canonical) calls(list []CallID) {
	c.number(uint64(len(list)))
	for _, id := range list {
		c.text(string(id))
	}
}

func (c *canonical) planned(p Planned) {
	for _, s := range []string{string(p.ID), string(p.Self), string(p.Action), p.Address, p.Group} {
		c.text(s)
	}
	c.plan(p.Locks)
	c.guards(p.Guards)
	c.effects(p.Effects)
	c.calls(p.After)
}

func (c *canonical) capacity(s *State) {
	var index func(uint64) uint64
	if c.abstract {
		index = c.indexes.of
	}
	c.raw(s.escrow.AppendCanonical(nil, index))
	c.number(uint64(s.read.Len()))
	for k, at := range s.read.Sorted {
		c.text(string(k))
		c.time(at)
	}
}

func (c *canonical) claims(s *State) {
	c.number(uint64(s.plans.Len()))
	for id, p := range s.plans.Sorted {
		c.text(string(id))
		c.text(p.marks())
	}
	c.number(uint64(s.claims.Len()))
	for _, x := range s.claims.Sorted {
		c.text(string(x.ID))
		c.text(string(x.Plan))
		c.calls(x.Calls)
		c.plan(x.Locks)
		c.time(x.Since)
	}
}

func (c *canonical) pass(p *Pass) {
	c.flag(p != nil)
	if p == nil {
		return
	}
	for _, s := range []string{string(p.Tx), p.Mode, p.By, p.Reason, string(p.Of)} {
		c.text(s)
	}
}

func (c *canonical) plan(p lock.Plan) {
	c.number(uint64(len(p)))
	for _, w := range p {
		c.text(string(w.Node))
		c.number(uint64(w.Mode))
		c.text(string(w.Relation))
		c.text(w.Rule)
		c.text(w.Class)
	}
}

func (c *canonical) blockers(list []Blocker) {
	c.number(uint64(len(list)))
	for _, b := range list {
		for _, s := range []string{
			string(b.Node), string(b.Relation), b.Want, b.Held, b.Rule, b.Class, string(b.Holder),
			string(b.HolderSession), string(b.HolderIntent), string(b.Guard), b.Fact, string(b.FactNode),
		} {
			c.text(s)
		}
		c.flag(b.Ahead)
		c.time(b.FactAt)
		c.flag(b.Replan)
		c.text(string(b.Claim))
		c.flag(b.Exceeded)
		c.flag(b.Dead)
		c.flag(b.Capacity != nil)
		if x := b.Capacity; x != nil {
			c.text(string(x.Bucket))
			for _, n := range []int64{x.Limit, x.Used, x.Reserved, x.Theirs, x.Doubt, x.Asked} {
				c.amount(n)
			}
			c.flag(x.Hopeless)
		}
	}
}

func (c *canonical) tx(e *entry) {
	c.text(string(e.ID))
	c.raw(e.digest[:])
	if !c.abstract {
		c.request(&e.Request)
	}
	c.ticket(e.Ticket)
	c.text(string(e.Status))
	c.token(e.Token)
	for _, t := range []int64{e.SubmittedAt, e.AdmittedAt, e.StartedAt, e.EndedAt} {
		c.time(t)
	}
	c.text(e.Cause)
	c.text(string(e.Before))
	c.index(e.StartedIndex)
	c.text(e.By)
	c.text(e.Reason)
	c.flag(e.Exists)
	c.flag(e.slim)
	c.ticket(e.Rank)
	c.text(string(e.Claim))
	c.pass(e.Passed)
	if !c.abstract {
		c.blockers(e.Blockers)
		c.blockers(e.Delayed)
	}
}

// node writes a node by itself.
func (c *canonical) node(n *graph.Node) { c.nodeAfter(&graph.Node{}, n) }

// nodeAfter writes a node that follows another one. Its texts are often those of
// the one before, and are left out then.
func (c *canonical) nodeAfter(last, n *graph.Node) {
	c.text(string(n.ID))
	c.unless(string(n.Parent), string(last.Parent))
	c.unless(string(n.Kind), string(last.Kind))
	c.unless(n.Type, last.Type)
	c.unless(string(n.Lifecycle), string(last.Lifecycle))
	c.unless(n.Owner, last.Owner)
	c.unless(n.Address, last.Address)
	c.unless(n.Digest, last.Digest)
	c.unless(n.DeclaredBy, last.DeclaredBy)
	c.unless(n.ChangedBy, last.ChangedBy)
	c.unless(string(n.BoundTo), string(last.BoundTo))
	c.unless(string(n.Collides), string(last.Collides))
	c.number(n.Version)
	c.number(n.Incarnation)
	c.time(n.LifeAt)
	c.time(n.ObservedAt)
	c.index(n.ChangedIndex)
	c.index(n.SinceIndex)
	c.number(n.ChangedFrom)
	if !c.abstract {
		c.history(n.History)
	}
}

// unless writes a text, or only that it is the same as the last one.
func (c *canonical) unless(s, last string) {
	if s == last {
		c.byte(0)
		return
	}
	c.byte(1)
	c.text(s)
}

func (c *canonical) history(list []graph.Change) {
	c.number(uint64(len(list)))
	for _, h := range list {
		c.time(h.At)
		for _, s := range []string{h.Session, h.Intent, h.Tx, h.Action, h.Result} {
			c.text(s)
		}
	}
}

func (c *canonical) seat(x *seat) {
	for _, s := range []string{
		string(x.ID), x.Actor, x.Tool, x.Host, x.RunURL, x.Origin, string(x.Policy), x.Ended, x.Phase, string(x.first),
	} {
		c.text(s)
	}
	c.number(uint64(len(x.Labels)))
	if len(x.Labels) > 0 {
		for _, k := range slices.Sorted(maps.Keys(x.Labels)) {
			c.text(k)
			c.text(x.Labels[k])
		}
	}
	for _, t := range []int64{x.Lease, x.Expires, x.OpenedAt, x.EndedAt, x.DeadAt} {
		c.time(t)
	}
	c.ids(x.declares)
}

func (c *canonical) intent(i Intent) {
	for _, s := range []string{string(i.ID), string(i.Session), i.Objective, i.Kind} {
		c.text(s)
	}
	c.number(uint64(len(i.Links)))
	for _, l := range i.Links {
		c.text(l)
	}
}
