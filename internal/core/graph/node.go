// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package graph is the global graph of the cloud: a containment forest of
// nodes, and references between them (CloudWeaver, section 4.1).
//
// Every node has exactly one parent; a second parent is refused, because
// multi-granularity locking on a graph with several parents is unsafe.
// References are edges, never parents.
package graph

import "strings"

// NodeID is the canonical identity of a node: the provider's own id in the
// spelling that the rule pack made canonical (a lower-cased ARM id, an ARN, a
// self link), a realm, or one of the derived ids below. Never a bare name.
type NodeID string

// Kind says what a node stands for.
type Kind string

// The kinds of node.
const (
	// Realm is one account, subscription, project or cluster: a root.
	Realm Kind = "realm"
	// Resource is an object of the cloud.
	Resource Kind = "resource"
	// Facet is a virtual child that stands for one aspect of its parent, so
	// that semantic conflicts need no lock modes of their own.
	Facet Kind = "facet"
	// Name is a name within a parent, lockable before the object exists,
	// where the object's id cannot be derived from its name.
	Name Kind = "name"
	// Pending stands for an object whose id only the cloud will choose.
	Pending Kind = "pending"
)

// Well-known facets.
const (
	// Life stands for the existence of its parent: holding it shared pins the
	// parent against deletion.
	Life = "life"
	// Config stands for the parent's own attributes.
	Config = "config"
)

// FacetOf is the id of a facet of n.
func FacetOf(n NodeID, facet string) NodeID { return n + "/~" + NodeID(facet) }

// NameOf is the id of the name node for an object of a type within a parent.
func NameOf(parent NodeID, resourceType, name string) NodeID {
	return parent + "/~name/" + NodeID(resourceType) + "/" + NodeID(name)
}

// PendingOf is the id of the node that stands for the object at a Terraform
// address of a session until the cloud has chosen its id.
func PendingOf(session, address string) NodeID {
	return NodeID("~pending/" + session + "/" + address)
}

// OwnerOfFacet is the node that a facet belongs to, and the facet's name; ok
// is false when id is no facet.
func OwnerOfFacet(id NodeID) (owner NodeID, facet string, ok bool) {
	i := strings.LastIndex(string(id), "/~")
	if i < 0 || strings.HasPrefix(string(id[i:]), "/~name/") {
		return "", "", false
	}
	return id[:i], string(id[i+2:]), true
}

// Decl places a node in the containment forest. A lock plan declares every
// node it names, so that nodes nobody has seen yet can be locked.
type Decl struct {
	ID NodeID `json:"id"`
	// Parent is empty for a realm.
	Parent NodeID `json:"parent,omitempty"`
	Kind   Kind   `json:"kind"`
	// Type is the Terraform resource type or the cloud type; empty for facets.
	Type string `json:"type,omitempty"`
}

// Lifecycle is what is known about the existence of a node.
type Lifecycle string

// The lifecycle states. The zero value means that nothing is known: the node
// was named by a plan, but never observed or changed through the coordinator.
const (
	Unknown     Lifecycle = ""
	Creating    Lifecycle = "creating"
	Operational Lifecycle = "operational"
	Updating    Lifecycle = "updating"
	Deleting    Lifecycle = "deleting"
	// Absent: the object is known not to exist.
	Absent Lifecycle = "absent"
	// Failed: the last change of the object failed and left it in place.
	Failed Lifecycle = "failed"
	// Uncertain: the outcome of the last change was lost.
	Uncertain Lifecycle = "uncertain"
)

// Live says whether an object is, or may be, there.
func (l Lifecycle) Live() bool {
	switch l {
	case Operational, Updating, Failed, Uncertain, Creating, Deleting:
		return true
	default:
		return false
	}
}

// HistoryLimit bounds the intent history kept with a node.
const HistoryLimit = 16

// Change is one entry of a node's intent history: who changed it, and why.
type Change struct {
	At      int64  `json:"at"` // nanoseconds since the Unix epoch
	Session string `json:"session"`
	Intent  string `json:"intent"`
	Tx      string `json:"tx,omitempty"`
	Action  string `json:"action"`
	Result  string `json:"result"`
}

// Node is one lockable thing and what is known of it.
type Node struct {
	Decl
	Lifecycle Lifecycle `json:"lifecycle,omitempty"`
	// Version grows with every change of the node, its edges or its
	// lifecycle that the coordinator learns of.
	Version uint64 `json:"version,omitempty"`
	// Incarnation counts the lives of the object: it grows with each create.
	Incarnation uint64 `json:"incarnation,omitempty"`
	// LifeAt is when the present life began, or ended, as far as the
	// coordinator knows: in nanoseconds since the Unix epoch, 0 for unknown.
	LifeAt int64 `json:"life_at,omitempty"`
	// SinceIndex is the index of the record from which the graph knows the present
	// life; 0 if it never learnt when.
	SinceIndex uint64 `json:"since_index,omitempty"`
	// Owner is the state (backend, workspace) that last created or changed
	// the object through the coordinator; empty when unknown.
	Owner string `json:"owner,omitempty"`
	// Address is the Terraform address by which the owner knows the object.
	Address string `json:"address,omitempty"`
	// Digest identifies the last observed attributes; the values themselves
	// are not kept.
	Digest string `json:"digest,omitempty"`
	// ObservedAt is when the facts above were last confirmed by a provider,
	// in nanoseconds since the Unix epoch.
	ObservedAt int64 `json:"observed_at,omitempty"`
	// DeclaredBy is the session whose approved plan will create the object;
	// the first by name where several plans say so.
	DeclaredBy string   `json:"declared_by,omitempty"`
	History    []Change `json:"history,omitempty"`
	// ChangedIndex is the index of the record that last changed the node's
	// version: an observation that began earlier knows less than the graph.
	ChangedIndex uint64 `json:"changed_index,omitempty"`
	// ChangedBy is the session that made every change of the versions above
	// ChangedFrom; empty when somebody outside made them. A run is not
	// surprised by what it did itself.
	ChangedBy   string `json:"changed_by,omitempty"`
	ChangedFrom uint64 `json:"changed_from,omitempty"`
	// BoundTo is the id that the cloud chose, on a name or pending node.
	BoundTo NodeID `json:"bound_to,omitempty"`
	// Collides is set on two nodes that both claim one identity: a created
	// object was given the id of one that was known to be there already.
	Collides NodeID `json:"collides,omitempty"`
}

// Touch counts one more change of the node, made by a session (empty for
// somebody outside) and recorded at an index.
func (n *Node) Touch(session string, index uint64) {
	if n.ChangedBy != session || session == "" {
		n.ChangedBy, n.ChangedFrom = session, n.Version
	}
	n.Version++
	n.ChangedIndex = index
}

// UnchangedSince says whether a plan that a session made on a version of the
// node still knows the node: nothing changed since, or only the session itself
// changed it.
func (n *Node) UnchangedSince(version uint64, session string) bool {
	return n.Version == version ||
		version < n.Version && version >= n.ChangedFrom && n.ChangedBy == session && session != ""
}

// Remember appends to the intent history and returns the entry that was
// dropped to keep it within HistoryLimit, if any. The old slice is not
// changed: other copies of the node share it.
func (n *Node) Remember(c Change) (dropped Change, full bool) {
	old := n.History
	if len(old) >= HistoryLimit {
		dropped, full = old[0], true
		old = old[len(old)-HistoryLimit+1:]
	}
	n.History = append(append(make([]Change, 0, len(old)+1), old...), c)
	return dropped, full
}

// LastChange is the newest entry of the intent history.
func (n *Node) LastChange() (Change, bool) {
	if len(n.History) == 0 {
		return Change{}, false
	}
	return n.History[len(n.History)-1], true
}

// EdgeKind is the meaning of a reference.
type EdgeKind string

// The kinds of edges of the paper, containment aside (it is the tree).
const (
	Attaches   EdgeKind = "attaches"
	Routes     EdgeKind = "routes"
	References EdgeKind = "references"
	Depends    EdgeKind = "depends"
)

// Edge says that From refers to To.
type Edge struct {
	From NodeID   `json:"from"`
	To   NodeID   `json:"to"`
	Kind EdgeKind `json:"kind"`
}
