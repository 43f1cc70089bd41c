// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// LocalID is the name of a node within one session, such as "subnet-2". Another
// session may know the same node by another one.
type LocalID string

// UnknownIDError: a local id names nothing that the session sees. It is the same
// for what has never been, what is hidden and what is not there any more.
type UnknownIDError struct{ ID LocalID }

// Error names the id.
func (e *UnknownIDError) Error() string { return fmt.Sprintf("%q: %s", e.ID, ErrUnknownID) }

// Unwrap is ErrUnknownID.
func (e *UnknownIDError) Unwrap() error { return ErrUnknownID }

// ErrUnknownID is what every [UnknownIDError] wraps.
var ErrUnknownID = errors.New("no such local id in the view of the session")

// Locals is what one session remembers of what was shown to it: the local ids
// of nodes, how often each was seen to change, and its own numbering of fencing
// tokens. It grows with what is shown, in an order that depends on nothing else.
// The zero value is ready. Not safe for concurrent use.
type Locals struct {
	nodes  map[graph.NodeID]*local
	ids    map[LocalID]graph.NodeID
	order  []graph.NodeID // as they were named
	counts map[string]uint64
	tokens map[admission.TxID]uint64
	token  uint64
}

// local is what is remembered of a node.
type local struct {
	id      LocalID
	version uint64
	// print is what was shown of the node at that version, and global the
	// version that the graph had when it was last shown.
	print  string
	global uint64
}

// Local is the local id of a node that was shown before.
func (l *Locals) Local(id graph.NodeID) (LocalID, bool) {
	x := l.nodes[id]
	if x == nil {
		return "", false
	}
	return x.id, true
}

// Global is the node that a local id was given to, whether or not it is still
// visible; see [Locals.Resolve].
func (l *Locals) Global(id LocalID) (graph.NodeID, error) {
	n, ok := l.ids[id]
	if !ok {
		return "", &UnknownIDError{ID: id}
	}
	return n, nil
}

// Resolve is the visible node behind a local id, or an [UnknownIDError].
func (l *Locals) Resolve(lens *Lens, s *admission.State, id LocalID) (graph.NodeID, error) {
	return l.resolve(lens.scope(s), id)
}

func (l *Locals) resolve(c *scope, id LocalID) (graph.NodeID, error) {
	n, err := l.Global(id)
	if err != nil {
		return "", err
	}
	if n = c.real(n); c.nodes[n].access == Hidden {
		return "", &UnknownIDError{ID: id}
	}
	return n, nil
}

// Token is the session's own number for the fencing token of a transaction; 0
// for one that was not admitted. The numbers of tokens themselves would tell how
// much others are granted.
func (l *Locals) Token(tx *admission.Tx) uint64 {
	if tx.Token == 0 {
		return 0
	}
	if n, ok := l.tokens[tx.ID]; ok {
		return n
	}
	if l.tokens == nil {
		l.tokens = map[admission.TxID]uint64{}
	}
	l.token++
	l.tokens[tx.ID] = l.token
	return l.token
}

// Fence is the fencing token behind a session's own number for it;
// [admission.ErrToken] if the number is not that of the transaction.
func (l *Locals) Fence(s *admission.State, id admission.TxID, number uint64) (uint64, error) {
	tx, ok := s.Tx(id)
	if n, known := l.tokens[id]; !ok || !known || n != number {
		return 0, fmt.Errorf("transaction %s: %w", id, admission.ErrToken)
	}
	return tx.Token, nil
}

// take brings what is remembered up to date with a projection.
func (l *Locals) take(p *projection) {
	if l.nodes == nil {
		l.nodes, l.ids, l.counts = map[graph.NodeID]*local{}, map[LocalID]graph.NodeID{}, map[string]uint64{}
	}
	l.follow(p)
	var fresh []*item
	for i := range p.items {
		if l.nodes[p.items[i].id] == nil {
			fresh = append(fresh, &p.items[i])
		}
	}
	l.name(p, fresh)
	for i := range p.items {
		l.count(p.lens, &p.items[i])
	}
}

// follow gives the name of what stood for an object to the object, once the
// cloud has chosen its id.
func (l *Locals) follow(p *projection) {
	for i, id := range l.order {
		real := p.real(id)
		if real == id || l.nodes[real] != nil || p.nodes[real].access == Hidden {
			continue
		}
		l.nodes[real] = l.nodes[id]
		delete(l.nodes, id)
		l.ids[l.nodes[real].id] = real
		l.order[i] = real
	}
}

// name gives local ids, in an order that follows from what is visible of the
// nodes.
func (l *Locals) name(p *projection, fresh []*item) {
	paths := make(map[graph.NodeID]string, len(fresh))
	for _, x := range fresh {
		paths[x.id] = p.path(x)
	}
	slices.SortFunc(fresh, func(a, b *item) int {
		return cmp.Or(
			cmp.Compare(a.share, b.share), cmp.Compare(paths[a.id], paths[b.id]),
			cmp.Compare(a.stem(), b.stem()), cmp.Compare(p.address(a), p.address(b)), cmp.Compare(a.id, b.id),
		)
	})
	for _, x := range fresh {
		stem := x.stem()
		l.counts[stem]++
		id := LocalID(fmt.Sprintf("%s-%d", stem, l.counts[stem]))
		l.nodes[x.id], l.ids[id] = &local{id: id}, x.id
		l.order = append(l.order, x.id)
	}
}

// count counts a change of what is shown of a node.
func (l *Locals) count(lens *Lens, x *item) {
	e := encoder{}
	e.item(lens, x)
	n := l.nodes[x.id]
	if n.version == 0 || string(e.b) != n.print {
		n.version++
		n.print = string(e.b)
	}
	if x.node != nil {
		n.global = x.node.Version
	}
}

// stem begins the local ids of nodes of a type.
func (x *item) stem() string {
	if x.node == nil {
		return "node"
	}
	kind := x.node.Type
	if i := strings.LastIndexByte(kind, '/'); i >= 0 {
		kind = kind[i+1:]
	} else if _, rest, ok := strings.Cut(kind, "_"); ok {
		kind = rest
	}
	if kind == "" {
		kind = string(x.node.Kind)
	}
	return strings.ToLower(kind)
}

// nameOf is the last part of an id, which says nothing of what is above.
func nameOf(id graph.NodeID) string { return string(id[strings.LastIndexAny(string(id), "/:")+1:]) }

// path is the names of a node and of what is visible above it.
func (p *projection) path(x *item) string {
	path := nameOf(x.id)
	for up := x.parent; up != ""; up = p.parent(up) {
		path = nameOf(up) + "/" + path
	}
	return path
}

func (p *projection) address(x *item) string {
	if x.node == nil {
		return ""
	}
	return address(p.lens.owner(x.node.Owner), x.node.Address)
}
