// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Access is what a session may see of a node and do with it.
type Access uint8

// The degrees of access, least first; each includes those before it.
const (
	// Hidden: the node is not there as far as the session is told.
	Hidden Access = iota
	// Named: that it contains something visible, its name and its type.
	Named
	// Readable: its state, locks and capacity.
	Readable
	// Usable: it may be referred to, and things may be created in it.
	Usable
	// Changeable: it may be changed and deleted.
	Changeable
	// Own: it was created, declared or taken over by the session or another one
	// of its Terraform state.
	Own
)

var accessNames = [...]string{"hidden", "named", "readable", "usable", "changeable", "own"}

// String is the word for the access.
func (a Access) String() string {
	if int(a) < len(accessNames) {
		return accessNames[a]
	}
	return "unknown"
}

// MarshalText writes the word.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word.
func (a *Access) UnmarshalText(b []byte) error {
	i := slices.Index(accessNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("%w: access %q", ErrPolicy, b)
	}
	*a = Access(i)
	return nil
}

// Allows says whether an action on a node of this access is allowed. To create
// something is asked of what it is created in.
func (a Access) Allows(action admission.Action) bool {
	switch action {
	case admission.Read:
		return a >= Readable
	case admission.Create:
		return a >= Usable
	case admission.Update, admission.Delete:
		return a >= Changeable
	default:
		return false
	}
}

// Lens is a policy as it applies to one session. It never changes, and may be
// used by many at once.
type Lens struct {
	session admission.Session
	open    bool
	parents Parents
	shares  []Share              // those with the session
	direct  map[graph.NodeID]int // the first share of each node
	deep    bool                 // some share includes contents
	shown   []Subject            // who is named to the session
}

// NewLens applies a policy to a session. Of the session its id, origin and
// labels count; the zero Session is somebody outside of any.
func NewLens(p Policy, x admission.Session) *Lens {
	p = p.clone()
	x.Labels = maps.Clone(x.Labels)
	l := &Lens{session: x, open: p.Default != Confined, parents: p.Parents, direct: map[graph.NodeID]int{}}
	for _, r := range p.Rules {
		if anyMatches(r.For, &x) {
			l.open, l.parents = r.See != Confined, r.Parents
			break
		}
	}
	for _, sh := range p.Shares {
		if !anyMatches(sh.With, &x) {
			continue
		}
		if _, ok := l.direct[sh.Node]; !ok {
			l.direct[sh.Node] = len(l.shares)
		}
		l.shares = append(l.shares, sh)
		l.deep = l.deep || sh.Contents
	}
	for _, d := range p.Shown {
		if anyMatches(d.To, &x) {
			l.shown = append(l.shown, d.Sessions...)
		}
	}
	return l
}

// Session is whose lens it is.
func (l *Lens) Session() admission.SessionID { return l.session.ID }

// Open says whether the session sees everything.
func (l *Lens) Open() bool { return l.open }

// Visible is the session's access to a node in a state: to the object that it
// was bound to, and for a facet to the object that it is a facet of.
func (l *Lens) Visible(s *admission.State, id graph.NodeID) Access {
	return l.scope(s).of(id)
}

// Allowed says whether the policy lets the session do something to a node; to
// create, in a node. Whether it can be done now is for admission to say.
func (l *Lens) Allowed(s *admission.State, action admission.Action, id graph.NodeID) bool {
	return l.Visible(s, id).Allows(action)
}

// relation is what another session is to the one that looks.
type relation uint8

const (
	stranger relation = iota // hidden
	known                    // named by the policy, or of the same state
	self
)

// party says what a session is to the one that looks.
func (l *Lens) party(s *admission.State, id admission.SessionID) relation {
	if id == l.session.ID && id != "" {
		return self
	}
	if l.open {
		return known
	}
	if len(l.shown) == 0 && l.session.Origin == "" {
		return stranger
	}
	x, ok := s.Session(id)
	if !ok {
		x = admission.Session{ID: id}
	}
	if l.kin(&x) || anyMatches(l.shown, &x) {
		return known
	}
	return stranger
}

// kin says whether a session works on the same Terraform state.
func (l *Lens) kin(x *admission.Session) bool {
	return x.Origin != "" && x.Origin == l.session.Origin
}

// Owners of nodes, as they are shown.
const (
	ownerSelf  = "self"
	ownerOther = "other"
)

// owner is how the owner of a node is shown: empty when nobody knows.
func (l *Lens) owner(origin string) string {
	switch {
	case origin == "":
		return ""
	case origin == l.session.Origin:
		return ownerSelf
	case l.open || l.names(origin):
		return origin
	default:
		return ownerOther
	}
}

// names says whether a Terraform state is named to the session.
func (l *Lens) names(origin string) bool {
	for _, s := range l.shown {
		if s.matchesState(origin) {
			return true
		}
	}
	return false
}

// shareOf is the best of what is shared of a node: its access and how much of
// what is above it, and its place in the policy.
func (l *Lens) shareOf(g *graph.Graph, n *graph.Node) (a Access, p Parents, at int) {
	at = -1
	first, direct := l.direct[n.ID]
	if !direct && !l.deep {
		return Hidden, NoParents, -1
	}
	if l.deep {
		first = 0 // one that includes it may stand before its own
	}
	for i := first; i < len(l.shares); i++ {
		x := &l.shares[i]
		if x.Node != n.ID && !(x.Contents && g.Contains(x.Node, n.ID)) {
			continue
		}
		if at < 0 {
			at, p = i, NoParents
		}
		a, p = max(a, accessOf(x.Mode)), wider(p, x.Parents)
	}
	return a, p, at
}

func accessOf(m Mode) Access {
	switch m {
	case Change:
		return Changeable
	case Use:
		return Usable
	default:
		return Readable
	}
}

// wider is the one of two visibilities that shows more.
func wider(a, b Parents) Parents {
	switch {
	case a == Full || b == Full:
		return Full
	case a == NoParents:
		return b
	case b == NoParents:
		return a
	default:
		return Names
	}
}

// narrower is the one of two visibilities that shows less.
func narrower(a, b Parents) Parents {
	switch {
	case a == NoParents || b == NoParents:
		return NoParents
	case a == Full:
		return b
	case b == Full:
		return a
	default:
		return Names
	}
}
