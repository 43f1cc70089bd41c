// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import "github.com/tfweaver/tfweaver/internal/core/document"

// A large graph is mostly nodes, so they are written without reflection.

func appendNode(b []byte, n *Node) []byte {
	m := document.Begin(b)
	n.Decl.members(&m)
	m.MaybeText("lifecycle", string(n.Lifecycle))
	m.MaybeCount("version", n.Version)
	m.MaybeCount("incarnation", n.Incarnation)
	m.MaybeTime("life_at", n.LifeAt)
	m.MaybeCount("since_index", n.SinceIndex)
	m.MaybeText("owner", n.Owner)
	m.MaybeText("address", n.Address)
	m.MaybeText("digest", n.Digest)
	m.MaybeTime("observed_at", n.ObservedAt)
	m.MaybeText("declared_by", n.DeclaredBy)
	if len(n.History) > 0 {
		document.List(&m, "history", n.History, appendChange)
	}
	m.MaybeCount("changed_index", n.ChangedIndex)
	m.MaybeText("changed_by", n.ChangedBy)
	m.MaybeCount("changed_from", n.ChangedFrom)
	m.MaybeText("bound_to", string(n.BoundTo))
	m.MaybeText("collides", string(n.Collides))
	b, _ = m.End() // nothing in it can fail
	return b
}

func appendChange(b []byte, c *Change) ([]byte, error) {
	m := document.Begin(b)
	m.Time("at", c.At)
	m.Text("session", c.Session)
	m.Text("intent", c.Intent)
	m.MaybeText("tx", c.Tx)
	m.Text("action", c.Action)
	m.Text("result", c.Result)
	return m.End()
}

func (d *Decl) members(m *document.Members) {
	m.Text("id", string(d.ID))
	m.MaybeText("parent", string(d.Parent))
	m.Text("kind", string(d.Kind))
	m.MaybeText("type", d.Type)
}

// AppendDecl appends the JSON form of a declaration.
func AppendDecl(b []byte, d *Decl) ([]byte, error) {
	m := document.Begin(b)
	d.members(&m)
	return m.End()
}
