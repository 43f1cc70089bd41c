// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// AppendTo appends the projection of a state for the session: equal bytes for
// what the session cannot tell apart within one history. It names things by
// their global ids, and is for comparing, not for showing.
func (l *Lens) AppendTo(b []byte, s *admission.State) []byte {
	p := l.project(s)
	e := encoder{b: b}
	e.number(uint64(len(p.items)))
	for i := range p.items {
		e.text(string(p.items[i].id))
		e.item(l, &p.items[i])
	}
	e.number(uint64(len(p.locks)))
	for _, h := range p.locks {
		e.texts(string(h.node), h.facet, h.by)
		e.flag(h.claim)
		e.number(uint64(h.mode))
	}
	e.number(uint64(len(p.buckets)))
	for _, r := range p.buckets {
		e.room(l, r)
	}
	e.number(uint64(len(p.calls)))
	for _, tx := range p.calls {
		e.texts(string(tx.ID), tx.Address, string(tx.Action), string(tx.Status), string(tx.Self))
		e.number(tx.Token)
	}
	return e.b
}

// Digest is a hash of what AppendTo writes.
func (l *Lens) Digest(s *admission.State) [sha256.Size]byte { return sha256.Sum256(l.AppendTo(nil, s)) }

// encoder writes values so that different ones give different bytes.
type encoder struct{ b []byte }

func (e *encoder) number(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list ...string) {
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) flag(v bool) {
	if v {
		e.b = append(e.b, 1)
		return
	}
	e.b = append(e.b, 0)
}

// item writes all that is shown of a node but its id: when that changes, its
// local version does.
func (e *encoder) item(l *Lens, x *item) {
	e.text(string(x.parent))
	e.number(uint64(x.access))
	e.flag(x.plain)
	if x.node == nil {
		return
	}
	e.texts(string(x.node.Kind), x.node.Type)
	if x.access < Readable {
		return
	}
	owner := l.owner(x.node.Owner)
	e.texts(string(x.node.Lifecycle), x.node.Digest, owner, address(owner, x.node.Address))
	e.number(x.node.Incarnation)
	e.number(uint64(len(x.edges)))
	for _, r := range x.edges {
		e.texts(string(r.To), string(r.Kind))
	}
}

// address is shown to those who know the owner.
func address(owner, address string) string {
	if owner == "" || owner == ownerOther {
		return ""
	}
	return address
}

func (e *encoder) room(l *Lens, r room) {
	e.text(string(r.key))
	e.number(uint64(r.level.Limit.Value))
	if !l.open {
		e.number(uint64(r.available()))
		return
	}
	e.number(uint64(r.level.Sup))
	e.number(uint64(r.level.High))
	e.number(uint64(r.level.Plus))
}
