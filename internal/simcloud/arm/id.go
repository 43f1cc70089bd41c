// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm

import (
	"errors"
	"fmt"
	"strings"
)

// ErrBadID says that a text is no resource id. Every error of ParseID and
// ParseCollection wraps it.
var ErrBadID = errors.New("not a resource id")

// maxIDLength bounds ids before they are parsed, in bytes.
const maxIDLength = 2048

// maxNameLength is the longest name of a resource, in bytes.
const maxNameLength = 80

// ID is the parsed id of one resource. The spelling of names is kept as it was
// given; the cloud compares ids without regard to case (see Key).
type ID struct {
	Subscription string
	Group        string
	Kind         Kind
	// Name is the name of the resource itself; for a resource group it equals Group.
	Name string
	// ParentName is the name of the virtual network of a subnet or of the
	// security group of a rule, and empty for every other kind.
	ParentName string
}

// GroupID is the id of a resource group.
func GroupID(subscription, group string) ID {
	return ID{Subscription: subscription, Group: group, Kind: ResourceGroup, Name: group}
}

// TopID is the id of a resource that stands directly in a resource group.
func TopID(kind Kind, subscription, group, name string) ID {
	return ID{Subscription: subscription, Group: group, Kind: kind, Name: name}
}

// ChildID is the id of a subnet or a security rule below the named parent.
func ChildID(kind Kind, subscription, group, parent, name string) ID {
	return ID{Subscription: subscription, Group: group, Kind: kind, Name: name, ParentName: parent}
}

// String is the id in canonical spelling of its fixed segments.
func (id ID) String() string {
	base := "/subscriptions/" + id.Subscription + "/resourceGroups/" + id.Group
	switch {
	case id.Kind == ResourceGroup:
		return base
	case id.ParentName != "":
		parent := id.Kind.Parent().facts().segment
		return base + "/providers/Microsoft.Network/" + parent + "/" + id.ParentName + "/" + id.Kind.facts().segment + "/" + id.Name
	default:
		return base + "/providers/Microsoft.Network/" + id.Kind.facts().segment + "/" + id.Name
	}
}

// Key is the id in lower case: two ids name the same resource exactly if their
// keys are equal.
func (id ID) Key() string { return strings.ToLower(id.String()) }

// Parent is the id one step up: the network of a subnet, the security group of
// a rule, the resource group of everything else. ok is false for a group.
func (id ID) Parent() (parent ID, ok bool) {
	switch {
	case id.Kind == ResourceGroup:
		return ID{}, false
	case id.ParentName != "":
		return TopID(id.Kind.Parent(), id.Subscription, id.Group, id.ParentName), true
	default:
		return id.GroupID(), true
	}
}

// GroupID is the id of the resource group the resource lives in, or of the
// group itself.
func (id ID) GroupID() ID { return GroupID(id.Subscription, id.Group) }

// ParseID reads an id. Fixed segments are recognised in any case. Errors wrap
// ErrBadID and name the offending text.
func ParseID(text string) (ID, error) {
	segments, err := split(text)
	if err != nil {
		return ID{}, err
	}
	id, rest, err := parsePrefix(text, segments)
	if err != nil {
		return ID{}, err
	}
	if len(rest) != 0 {
		return ID{}, fmt.Errorf("%w: %q has %d segments too many or too few", ErrBadID, text, len(rest))
	}
	return id, nil
}

// Collection names all resources of one kind below one parent.
type Collection struct {
	// Parent is the resource the collection hangs under; its Kind is zero for
	// the collection of all groups of a subscription.
	Parent ID
	Kind   Kind
}

// ParseCollection reads the path of a collection, for example the subnets of a
// network or the resource groups of a subscription. Errors wrap ErrBadID.
func ParseCollection(text string) (Collection, error) {
	segments, err := split(text)
	if err != nil {
		return Collection{}, err
	}
	if len(segments) == 3 && strings.EqualFold(segments[0], "subscriptions") && strings.EqualFold(segments[2], "resourceGroups") {
		return Collection{Parent: ID{Subscription: segments[1]}, Kind: ResourceGroup}, nil
	}
	last := len(segments) - 1
	parent, rest, err := parsePrefix(text, segments[:last])
	if err != nil {
		return Collection{}, err
	}
	kind, ok := kindBySegment(parent.Kind, segments[last])
	// Below a group the provider namespace stands between parent and collection.
	complete := len(rest) == 0
	if parent.Kind == ResourceGroup {
		complete = len(rest) == 2 && isNetworkProvider(rest)
	}
	if !complete || !ok {
		return Collection{}, fmt.Errorf("%w: %q names no collection", ErrBadID, text)
	}
	return Collection{Parent: parent, Kind: kind}, nil
}

func split(text string) ([]string, error) {
	if len(text) > maxIDLength {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrBadID, maxIDLength)
	}
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("%w: %q does not start with a slash", ErrBadID, text)
	}
	segments := strings.Split(text[1:], "/")
	for _, s := range segments {
		if s == "" {
			return nil, fmt.Errorf("%w: %q has an empty segment", ErrBadID, text)
		}
	}
	return segments, nil
}

func isNetworkProvider(segments []string) bool {
	return strings.EqualFold(segments[0], "providers") && strings.EqualFold(segments[1], "Microsoft.Network")
}

// parsePrefix reads as long an id as it can and returns the segments after it.
func parsePrefix(text string, segments []string) (ID, []string, error) {
	if len(segments) < 4 || !strings.EqualFold(segments[0], "subscriptions") || !strings.EqualFold(segments[2], "resourceGroups") {
		return ID{}, nil, fmt.Errorf("%w: %q does not start with /subscriptions/{id}/resourceGroups/{name}", ErrBadID, text)
	}
	id := GroupID(segments[1], segments[3])
	rest := segments[4:]
	if len(rest) < 4 || !isNetworkProvider(rest) {
		return id, rest, checkNames(id)
	}
	kind, ok := kindBySegment(ResourceGroup, rest[2])
	if !ok {
		return ID{}, nil, fmt.Errorf("%w: %q has the unknown type %q", ErrBadID, text, rest[2])
	}
	id = TopID(kind, id.Subscription, id.Group, rest[3])
	rest = rest[4:]
	if len(rest) < 2 {
		return id, rest, checkNames(id)
	}
	child, ok := kindBySegment(kind, rest[0])
	if !ok {
		return ID{}, nil, fmt.Errorf("%w: %q has the unknown child type %q", ErrBadID, text, rest[0])
	}
	id = ChildID(child, id.Subscription, id.Group, id.Name, rest[1])
	return id, rest[2:], checkNames(id)
}

func checkNames(id ID) error {
	for _, name := range []string{id.Subscription, id.Group, id.Name, id.ParentName} {
		if name != "" && !validName(name) {
			return fmt.Errorf("%w: the name %q is longer than %d bytes or has characters other than letters, digits and . _ - ( )", ErrBadID, name, maxNameLength)
		}
	}
	return nil
}

func validName(name string) bool {
	if len(name) > maxNameLength {
		return false
	}
	for _, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._-()", c) {
			return false
		}
	}
	return name != "." && name != ".."
}
