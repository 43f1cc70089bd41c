// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// scope is what a session sees of the nodes of one state.
type scope struct {
	lens *Lens
	s    *admission.State
	g    *graph.Graph
	// txs are all transactions by ticket, own the unfinished ones among them
	// that are the session's.
	txs      []admission.Tx
	own      []*admission.Tx
	declares []graph.NodeID
	nodes    map[graph.NodeID]seen
	// order is the visible nodes: parents first where all is open, else by id.
	order []graph.NodeID
}

// seen is how a node is seen.
type seen struct {
	access  Access
	parents Parents
	// share is the place of the share that shows it, -1 for none.
	share int
	// bare: the node is shared, and nothing is known of it. It looks the same
	// whether or not anybody has named it yet. Of realms, of which nothing is
	// ever known, it is no secret that somebody works in them.
	bare bool
}

func (l *Lens) scope(s *admission.State, also ...graph.NodeID) *scope {
	c := &scope{
		lens: l, s: s, g: s.Graph(), txs: s.Transactions(), declares: s.Declares(l.session.ID),
		nodes: make(map[graph.NodeID]seen, 16),
	}
	for i := range c.txs {
		if x := &c.txs[i]; x.Session == l.session.ID && x.Session != "" && !x.Status.Final() {
			c.own = append(c.own, x)
		}
	}
	for n := range c.g.Nodes() {
		c.look(n, slices.Contains(also, n.ID))
	}
	if !l.open {
		c.bare()
		c.above()
		slices.Sort(c.order)
	}
	return c
}

// look decides about one node by itself.
func (c *scope) look(n *graph.Node, also bool) {
	if n.Kind == graph.Facet || n.BoundTo != "" && c.g.Has(n.BoundTo) {
		return
	}
	mine := c.mine(n)
	if c.lens.open {
		c.see(n.ID, seen{access: max(mine, Changeable), share: -1})
		return
	}
	x := seen{share: -1}
	x.access, x.parents, x.share = c.lens.shareOf(c.g, n)
	if x.bare = x.access != Hidden && n.Lifecycle == graph.Unknown && n.Version == 0 && n.Kind != graph.Realm; x.bare {
		if _, direct := c.lens.direct[n.ID]; !direct {
			x = seen{share: -1} // whether somebody named it is not told
		}
	}
	if also && x.access == Hidden {
		mine = max(mine, Named)
	}
	if mine != Hidden {
		x.access, x.parents, x.bare = max(x.access, mine), wider(x.parents, c.lens.parents), false
	}
	if x.access != Hidden {
		c.see(n.ID, x)
	}
}

func (c *scope) see(id graph.NodeID, x seen) {
	c.nodes[id] = x
	c.order = append(c.order, id)
}

// mine is the access that a session has to a node by itself: its own is what it
// or its Terraform state made, took over, or is about to make. What it merely
// changed once it may look at. To ask for a call gives no access: else a session
// would see what it guesses the id of.
func (c *scope) mine(n *graph.Node) Access {
	x := &c.lens.session
	if x.Origin != "" && n.Owner == x.Origin {
		return Own
	}
	if (!n.Lifecycle.Live() || n.ChangedBy == string(x.ID)) && c.promises(n.ID) {
		return Own
	}
	a := Hidden
	for i := range n.History {
		if !c.ours(admission.SessionID(n.History[i].Session)) {
			continue
		}
		if n.History[i].Action == string(admission.Create) {
			return Own
		}
		a = Readable
	}
	return a
}

// promises says whether the session will make an object: it says so, or asks to.
func (c *scope) promises(id graph.NodeID) bool {
	if slices.Contains(c.declares, id) {
		return true
	}
	for _, tx := range c.own {
		if tx.Action == admission.Create && tx.Self == id || slices.ContainsFunc(tx.Calls, func(p admission.Planned) bool {
			return p.Action == admission.Create && p.Self == id
		}) {
			return true
		}
	}
	return false
}

// ours says whether a session is the one that looks, or one of the same state.
func (c *scope) ours(id admission.SessionID) bool {
	if id == "" {
		return false
	}
	if id == c.lens.session.ID {
		return true
	}
	x, ok := c.s.Session(id)
	return ok && c.lens.kin(&x)
}

// bare adds the shared nodes that nobody has named yet.
func (c *scope) bare() {
	for i, x := range c.lens.shares {
		if _, ok := c.nodes[x.Node]; !ok && !c.g.Has(x.Node) {
			a, p, _ := c.lens.shareOf(c.g, &graph.Node{Decl: graph.Decl{ID: x.Node}})
			c.see(x.Node, seen{access: a, parents: p, share: i, bare: true})
		}
	}
}

// above adds what may be seen of the ancestors. What is above a shared node is
// for its share to say, also towards those who have something of their own in it.
func (c *scope) above() {
	for _, id := range c.order { // what is added needs no look itself
		x := c.nodes[id]
		show := x.parents
		for up, ok := c.g.Parent(id); ok && show != NoParents && !x.bare; up, ok = c.g.Parent(up) {
			a := Named
			if show == Full {
				a = Readable
			}
			old, there := c.nodes[up]
			if !there {
				c.see(up, seen{access: a, share: -1})
				continue
			}
			old.access, old.bare = max(old.access, a), false
			c.nodes[up] = old
			if old.share >= 0 && old.access < Own {
				show = narrower(show, old.parents)
			}
		}
	}
}

// real is the object behind an id: of a facet the object that it belongs to, of
// a name or pending node the one that it was bound to.
func (c *scope) real(id graph.NodeID) graph.NodeID {
	if owner, _, ok := graph.OwnerOfFacet(id); ok {
		id = owner
	}
	if n := c.g.Peek(id); n != nil && n.BoundTo != "" && c.g.Has(n.BoundTo) {
		return n.BoundTo
	}
	return id
}

// of is the access to the object behind an id.
func (c *scope) of(id graph.NodeID) Access { return c.nodes[c.real(id)].access }

// parent is the nearest visible node above one, empty if there is none.
func (c *scope) parent(id graph.NodeID) graph.NodeID {
	if c.nodes[id].bare {
		return ""
	}
	for up, ok := c.g.Parent(id); ok; up, ok = c.g.Parent(up) {
		if c.nodes[up].access != Hidden {
			return up
		}
	}
	return ""
}

// plain says whether the id of a node, which names what is above it, may be
// shown: all of that is visible.
func (c *scope) plain(id graph.NodeID) bool {
	if x := c.nodes[id]; x.access == Hidden || x.bare {
		return false
	}
	for up, ok := c.g.Parent(id); ok; up, ok = c.g.Parent(up) {
		if c.nodes[up].access == Hidden {
			return false
		}
	}
	return true
}
