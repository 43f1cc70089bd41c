// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Schema identifies the version of the JSON form of a view.
const Schema = "weaver.view/v1"

// View is the local graph of a session: what it may see, under its own names.
type View struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	// Confined is false for a session that sees everything.
	Confined bool     `json:"confined"`
	Nodes    []Node   `json:"nodes"`
	Edges    []Edge   `json:"edges"`
	Locks    []Lock   `json:"locks"`
	Capacity []Bucket `json:"capacity"`
	Calls    []Call   `json:"calls"`
}

// Node is a visible node.
type Node struct {
	ID LocalID `json:"id"`
	// Parent is the nearest visible node that contains it.
	Parent LocalID `json:"parent,omitempty"`
	// Name is the last part of its id. CloudID is the whole id, which tells what
	// contains the node: only where all of that is visible.
	Name    string     `json:"name"`
	CloudID string     `json:"cloud_id,omitempty"`
	Kind    graph.Kind `json:"kind,omitempty"`
	Type    string     `json:"type,omitempty"`
	Access  Access     `json:"access"`
	// Lifecycle is empty while nothing is known of the node.
	Lifecycle graph.Lifecycle `json:"lifecycle,omitempty"`
	// Version counts the changes of what is shown of the node.
	Version uint64 `json:"version"`
	// Owner is "self", "other", the Terraform state where it may be named, or
	// empty when nobody knows; Address is that of the owner.
	Owner   string `json:"owner,omitempty"`
	Address string `json:"address,omitempty"`
}

// Edge is a reference between visible nodes.
type Edge struct {
	From LocalID        `json:"from"`
	To   LocalID        `json:"to"`
	Kind graph.EdgeKind `json:"kind"`
}

// Lock is what somebody holds of a visible node, or of one aspect of it.
type Lock struct {
	Node  LocalID `json:"node"`
	Facet string  `json:"facet,omitempty"`
	Mode  string  `json:"mode"`
	// By is "self", a session that is named to the viewer, or Alias.
	By string `json:"by"`
	// Claim: it is held for several calls together.
	Claim bool `json:"claim,omitempty"`
}

// Bucket is a capacity. What others use of it is left out for a confined
// session.
type Bucket struct {
	// Node is what it belongs to; empty where that is not visible, or nothing.
	Node  LocalID `json:"node,omitempty"`
	Name  string  `json:"name"`
	Limit int64   `json:"limit"`
	// Available is what is left to the session.
	Available int64  `json:"available"`
	Used      *int64 `json:"used,omitempty"`
	Reserved  *int64 `json:"reserved,omitempty"`
}

// Call is an unfinished transaction of the session itself.
type Call struct {
	ID      admission.TxID   `json:"id"`
	Address string           `json:"address"`
	Action  admission.Action `json:"action"`
	Object  LocalID          `json:"object,omitempty"`
	Status  admission.Status `json:"status"`
	// Token is the session's own number for the fencing token; see
	// [Locals.Fence].
	Token uint64 `json:"token,omitempty"`
}

// View is what a session sees of a state. What is new to it gets its local id.
func (l *Locals) View(lens *Lens, s *admission.State) View {
	p := lens.project(s)
	l.take(p)
	v := View{
		Schema: Schema, Session: string(lens.session.ID), Confined: !lens.open,
		Nodes: []Node{}, Edges: []Edge{}, Locks: []Lock{}, Capacity: []Bucket{}, Calls: []Call{},
	}
	at := make(map[graph.NodeID]*item, len(p.items))
	for i := range p.items {
		at[p.items[i].id] = &p.items[i]
	}
	for _, id := range l.order {
		if x := at[id]; x != nil {
			v.Nodes = append(v.Nodes, l.node(lens, x))
		}
	}
	for i := range p.items {
		for _, e := range p.items[i].edges {
			v.Edges = append(v.Edges, Edge{From: l.of(e.From), To: l.of(e.To), Kind: e.Kind})
		}
	}
	for _, h := range p.locks {
		v.Locks = append(v.Locks, Lock{Node: l.of(h.node), Facet: h.facet, Mode: h.mode.String(), By: h.by, Claim: h.claim})
	}
	for _, r := range p.buckets {
		v.Capacity = append(v.Capacity, l.bucket(p, r))
	}
	for _, tx := range p.calls {
		c := Call{ID: tx.ID, Address: tx.Address, Action: tx.Action, Status: tx.Status, Token: l.Token(tx)}
		if p.sees(tx.Self) {
			c.Object = l.of(p.real(tx.Self))
		}
		v.Calls = append(v.Calls, c)
	}
	v.sort()
	return v
}

// of is the local id of a node, empty for a hidden one.
func (l *Locals) of(id graph.NodeID) LocalID {
	x, _ := l.Local(id)
	return x
}

func (l *Locals) node(lens *Lens, x *item) Node {
	n := Node{
		ID: l.of(x.id), Parent: l.of(x.parent), Name: nameOf(x.id), Access: x.access, Version: l.nodes[x.id].version,
	}
	if x.plain {
		n.CloudID = string(x.id)
	}
	if x.node == nil {
		return n
	}
	n.Kind, n.Type = x.node.Kind, x.node.Type
	if x.access >= Readable {
		n.Lifecycle, n.Owner = x.node.Lifecycle, lens.owner(x.node.Owner)
		n.Address = address(n.Owner, x.node.Address)
	}
	return n
}

func (l *Locals) bucket(p *projection, r room) Bucket {
	node, name, ok := admission.NodeOfBucket(r.key)
	b := Bucket{Name: name, Limit: r.level.Limit.Value, Available: r.available()}
	if ok && p.of(node) != Hidden {
		b.Node = l.of(p.real(node))
	}
	if p.lens.open {
		b.Used, b.Reserved = &r.level.High, &r.level.Plus
	}
	return b
}

// sort puts what came in the order of global ids into one that tells nothing of
// them.
func (v *View) sort() {
	slices.SortFunc(v.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(v.Locks, func(a, b Lock) int {
		return cmp.Or(
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Facet, b.Facet), cmp.Compare(a.By, b.By),
			compareBool(a.Claim, b.Claim),
		)
	})
	slices.SortFunc(v.Capacity, func(a, b Bucket) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Limit, b.Limit))
	})
}

// Find is the node of a local id, or nil.
func (v *View) Find(id LocalID) *Node {
	i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.ID == id })
	if i < 0 || id == "" {
		return nil
	}
	return &v.Nodes[i]
}
