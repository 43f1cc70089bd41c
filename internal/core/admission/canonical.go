// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/binary"
	"maps"
	"slices"

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
	b        []byte
	abstract bool
	indexes  []uint64 // sorted; only when abstract
	tickets  []uint64 // sorted; only when abstract
}

func (c *canonical) number(v uint64) { c.b = binary.AppendUvarint(c.b, v) }

func (c *canonical) text(s string) {
	c.number(uint64(len(s)))
	c.b = append(c.b, s...)
}

func (c *canonical) flag(v bool) {
	if v {
		c.b = append(c.b, 1)
		return
	}
	c.b = append(c.b, 0)
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
		i, _ := slices.BinarySearch(c.indexes, v)
		v = uint64(i)
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
	c.number(uint64(len(r.Guards)))
	for _, g := range r.Guards {
		c.text(string(g.Kind))
		c.text(string(g.Node))
		c.number(g.Value)
		c.text(g.Rule)
	}
	c.edges(r.Edges)
	c.flag(r.KeepEdges)
	c.edges(r.AddEdges)
	c.edges(r.DropEdges)
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
	}
}

func (c *canonical) tx(e *entry) {
	c.text(string(e.ID))
	c.b = append(c.b, e.digest[:]...)
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
	if !c.abstract {
		c.blockers(e.Blockers)
	}
}

func (c *canonical) node(n *graph.Node) {
	c.decl(n.Decl)
	c.text(string(n.Lifecycle))
	c.number(n.Version)
	c.number(n.Incarnation)
	c.text(n.Owner)
	c.text(n.Address)
	c.text(n.Digest)
	c.time(n.ObservedAt)
	c.text(n.DeclaredBy)
	c.index(n.ChangedIndex)
	c.text(n.ChangedBy)
	c.number(n.ChangedFrom)
	c.text(string(n.BoundTo))
	c.text(string(n.Collides))
	if c.abstract {
		return
	}
	c.number(uint64(len(n.History)))
	for _, h := range n.History {
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
	for _, k := range slices.Sorted(maps.Keys(x.Labels)) {
		c.text(k)
		c.text(x.Labels[k])
	}
	for _, t := range []int64{x.Lease, x.Expires, x.OpenedAt, x.EndedAt} {
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
