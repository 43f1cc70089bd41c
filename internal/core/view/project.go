// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// Alias stands for everything that is hidden: sessions, and what they are at.
// There is one, so that it does not tell how many there are.
const Alias = "(hidden)"

// projection is what a session sees of a state, under global ids. All lists
// are sorted by them.
type projection struct {
	*scope
	items   []item
	locks   []held
	buckets []room
	calls   []*admission.Tx
}

// item is a visible node.
type item struct {
	id, parent graph.NodeID
	seen
	// node is nil where nothing is shown but that it is there.
	node *graph.Node
	// plain says that the global id may be shown.
	plain bool
	// edges are the references to visible nodes.
	edges []graph.Edge
}

// held is a lock on a visible node, or on a facet of it.
type held struct {
	node  graph.NodeID
	facet string
	by    string // ownerSelf, a session id, or Alias
	claim bool
	mode  mode.Mode
}

// room is a bucket of a visible node, or one that the session itself asks of.
type room struct {
	key   escrow.Key
	level escrow.Level
}

// available is what is left to the session.
func (r room) available() int64 { return max(0, r.level.Limit.Value-r.level.Sup) }

func (l *Lens) project(s *admission.State, also ...graph.NodeID) *projection {
	p := &projection{scope: l.scope(s, also...)}
	p.items = make([]item, 0, len(p.order))
	for _, id := range p.order {
		p.items = append(p.items, p.item(id))
	}
	p.takeLocks()
	p.takeBuckets()
	p.calls = p.own
	return p
}

func (p *projection) item(id graph.NodeID) item {
	x := item{id: id, seen: p.nodes[id], parent: p.parent(id), plain: p.plain(id)}
	if x.bare {
		return x
	}
	x.node = p.g.Peek(id)
	if x.access < Readable {
		return x
	}
	for _, e := range p.g.Out(id) {
		if to := p.real(e.To); p.nodes[to].access != Hidden {
			e.To = to
			x.edges = append(x.edges, e)
		}
	}
	return x
}

func (p *projection) takeLocks() {
	for i := range p.txs {
		tx := &p.txs[i]
		if !tx.Status.Holds() || tx.Passed != nil {
			continue
		}
		by := p.lens.party(p.s, tx.Session)
		self := p.real(tx.Self)
		for _, w := range tx.Locks {
			if by != stranger || tx.Action != admission.Read && p.real(w.Node) == self && !mode.IsIntention(w.Mode) {
				p.lock(w.Node, held{by: p.name(by, tx.Session), mode: w.Mode})
			}
		}
	}
	for _, c := range p.s.Claims() {
		p.claim(c)
	}
	slices.SortFunc(p.locks, func(a, b held) int {
		return cmp.Or(a.compare(b), cmp.Compare(a.mode, b.mode))
	})
	p.locks = merge(p.locks)
}

// claim shows what a claim holds: of a hidden session only the visible objects
// that its calls are about.
func (p *projection) claim(c admission.Claim) {
	tx, _ := p.s.Tx(c.Plan)
	by := p.lens.party(p.s, tx.Session)
	for _, w := range c.Locks {
		if by != stranger || p.about(&tx, c.Calls, w.Node) {
			p.lock(w.Node, held{by: p.name(by, tx.Session), mode: w.Mode, claim: true})
		}
	}
}

// about says whether one of some calls of a plan changes a node itself.
func (p *projection) about(plan *admission.Tx, calls []admission.CallID, id graph.NodeID) bool {
	return slices.ContainsFunc(plan.Calls, func(c admission.Planned) bool {
		return c.Self == id && c.Action != admission.Read && slices.Contains(calls, c.ID)
	})
}

func (p *projection) lock(id graph.NodeID, h held) {
	h.node = id
	if owner, facet, ok := graph.OwnerOfFacet(id); ok {
		h.node, h.facet = owner, facet
	}
	if h.node = p.real(h.node); p.nodes[h.node].access >= Readable {
		p.locks = append(p.locks, h)
	}
}

func (p *projection) name(by relation, id admission.SessionID) string {
	switch by {
	case self:
		return ownerSelf
	case known:
		return string(id)
	default:
		return Alias
	}
}

func (h held) compare(o held) int {
	return cmp.Or(
		cmp.Compare(h.node, o.node), cmp.Compare(h.facet, o.facet), cmp.Compare(h.by, o.by),
		compareBool(h.claim, o.claim),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// merge makes one lock of those of one holder on one thing, so that the locks of
// several hidden sessions are one.
func merge(list []held) []held {
	out := list[:0]
	for _, h := range list {
		if n := len(out); n > 0 && out[n-1].compare(h) == 0 {
			out[n-1].mode = mode.Sup(out[n-1].mode, h.mode)
			continue
		}
		out = append(out, h)
	}
	return out
}

func (p *projection) takeBuckets() {
	table := p.s.Capacity()
	for _, k := range table.Buckets() {
		if !p.counts(k) {
			continue
		}
		if l := table.Level(k); l.Known && l.Limit.Set {
			p.buckets = append(p.buckets, room{key: k, level: l})
		}
	}
}

// counts says whether a bucket is shown.
func (c *scope) counts(k escrow.Key) bool {
	if c.lens.open {
		return true
	}
	if node, _, ok := admission.NodeOfBucket(k); ok && c.of(node) >= Readable {
		return true
	}
	for _, tx := range c.own {
		if asks(tx, k) {
			return true
		}
	}
	return false
}

// asks says whether a transaction, or a call of the plan that it reserves, has
// to do with a bucket.
func asks(tx *admission.Tx, k escrow.Key) bool {
	return tx.Effects.Amount(k) != 0 || slices.ContainsFunc(tx.Calls, func(c admission.Planned) bool {
		return c.Effects.Amount(k) != 0
	})
}
