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

// locationSegment stands before the name of a location in an id.
const locationSegment = "locations"

// maxNameLength is the longest name of a resource, in bytes.
const maxNameLength = 80

// ID is the parsed id of one resource. The spelling of names is kept as it was
// given; the cloud compares ids without regard to case (see Key).
type ID struct {
	Subscription string
	// Group is the resource group, empty for what stands directly in the
	// subscription.
	Group string
	Kind  Kind
	// Name is the name of the resource itself; for a resource group it equals Group.
	Name string
	// ParentName is the name of the virtual network of a subnet, of the security
	// group of a rule, of the function of a permission or of the location of a
	// quota, and empty for every other kind.
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

// ChildID is the id of a subnet, a security rule or a permission below the named
// parent.
func ChildID(kind Kind, subscription, group, parent, name string) ID {
	return ID{Subscription: subscription, Group: group, Kind: kind, Name: name, ParentName: parent}
}

// AccountID is the id of a resource that stands directly in a subscription.
func AccountID(kind Kind, subscription, name string) ID {
	return ID{Subscription: subscription, Kind: kind, Name: name}
}

// Names of quotas: one for all processors of a location, and one for those of
// each family of sizes.
const (
	quotaName   = "cores"
	quotaPrefix = quotaName + "-"
)

// QuotaID is the id of the quota of a location, for one family of sizes or, if
// family is empty, for all of them together.
func QuotaID(subscription, location, family string) ID {
	name := quotaName
	if family != "" {
		name = quotaPrefix + family
	}
	return ID{Subscription: subscription, Kind: Quota, Name: name, ParentName: location}
}

// QuotaFamily is the family of sizes a quota is for, empty for that of all
// together.
func (id ID) QuotaFamily() string {
	if len(id.Name) < len(quotaPrefix) {
		return ""
	}
	return id.Name[len(quotaPrefix):]
}

// String is the id in canonical spelling of its fixed segments.
func (id ID) String() string {
	base := "/subscriptions/" + id.Subscription
	if !id.Kind.inAccount() {
		base += "/resourceGroups/" + id.Group
	}
	if id.Kind == ResourceGroup {
		return base
	}
	base += "/providers/" + id.Kind.namespace() + "/"
	switch {
	case id.Kind.inLocation():
		base += locationSegment + "/" + id.ParentName + "/"
	case id.ParentName != "":
		base += id.Kind.Parent().facts().segment + "/" + id.ParentName + "/"
	}
	return base + id.Kind.facts().segment + "/" + id.Name
}

// Key is the id in lower case: two ids name the same resource exactly if their
// keys are equal.
func (id ID) Key() string { return strings.ToLower(id.String()) }

// Parent is the id one step up: the network of a subnet, the security group of
// a rule, the function of a permission, the resource group of everything else.
// ok is false for a group and for what stands directly in the subscription.
func (id ID) Parent() (parent ID, ok bool) {
	switch {
	case id.Kind == ResourceGroup || id.Kind.inAccount():
		return ID{}, false
	case id.ParentName != "":
		return TopID(id.Kind.Parent(), id.Subscription, id.Group, id.ParentName), true
	default:
		return id.GroupID(), true
	}
}

// GroupID is the id of the resource group the resource lives in, or of the
// group itself. It means nothing for what stands directly in the subscription.
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
	// a collection that stands directly in a subscription, or in a location of it,
	// whose name is then in ParentName.
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
	if isAccountPath(segments) && len(segments) == 5 {
		kind, ok := kindByType(true, segments[3], segments[4])
		if !ok {
			return Collection{}, fmt.Errorf("%w: %q names no collection", ErrBadID, text)
		}
		return Collection{Parent: ID{Subscription: segments[1]}, Kind: kind}, nil
	}
	if isLocationPath(segments) && len(segments) == 7 && isQuotas(segments) {
		return Collection{Parent: ID{Subscription: segments[1], ParentName: segments[5]}, Kind: Quota}, nil
	}
	last := len(segments) - 1
	parent, rest, err := parsePrefix(text, segments[:last])
	if err != nil {
		return Collection{}, err
	}
	kind, ok := collectionKind(parent, rest, segments[last])
	if !ok {
		return Collection{}, fmt.Errorf("%w: %q names no collection", ErrBadID, text)
	}
	return Collection{Parent: parent, Kind: kind}, nil
}

// collectionKind is the kind of a collection below parent. Below a group the
// provider namespace stands between the two.
func collectionKind(parent ID, between []string, segment string) (Kind, bool) {
	switch {
	case parent.Kind != ResourceGroup:
		kind, ok := kindBySegment(parent.Kind, segment)
		return kind, ok && len(between) == 0
	case len(between) == 2 && strings.EqualFold(between[0], "providers"):
		return kindByType(false, between[1], segment)
	}
	return 0, false
}

// isAccountPath reports whether a path goes from the subscription straight to a
// provider namespace.
func isAccountPath(segments []string) bool {
	return len(segments) >= 4 && strings.EqualFold(segments[0], "subscriptions") && strings.EqualFold(segments[2], "providers")
}

// isLocationPath reports whether a path goes from the subscription to a location.
func isLocationPath(segments []string) bool {
	return isAccountPath(segments) && len(segments) >= 6 && strings.EqualFold(segments[4], locationSegment)
}

// isQuotas reports whether a path in a location goes to its quotas.
func isQuotas(segments []string) bool {
	return strings.EqualFold(segments[3], Quota.namespace()) && strings.EqualFold(segments[6], Quota.facts().segment)
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

// parsePrefix reads as long an id as it can and returns the segments after it.
func parsePrefix(text string, segments []string) (ID, []string, error) {
	if isAccountPath(segments) {
		return parseAccountID(text, segments)
	}
	if len(segments) < 4 || !strings.EqualFold(segments[0], "subscriptions") || !strings.EqualFold(segments[2], "resourceGroups") {
		return ID{}, nil, fmt.Errorf("%w: %q does not start with /subscriptions/{id}/resourceGroups/{name}", ErrBadID, text)
	}
	id := GroupID(segments[1], segments[3])
	rest := segments[4:]
	if len(rest) < 4 || !strings.EqualFold(rest[0], "providers") {
		return id, rest, checkNames(id)
	}
	kind, ok := kindByType(false, rest[1], rest[2])
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

// parseAccountID reads the id of what stands directly in a subscription.
func parseAccountID(text string, segments []string) (ID, []string, error) {
	if len(segments) < 6 {
		return ID{}, nil, fmt.Errorf("%w: %q ends too early", ErrBadID, text)
	}
	if isLocationPath(segments) {
		return parseLocationID(text, segments)
	}
	kind, ok := kindByType(true, segments[3], segments[4])
	if !ok {
		return ID{}, nil, fmt.Errorf("%w: %q has the unknown type %q", ErrBadID, text, segments[4])
	}
	id := AccountID(kind, segments[1], segments[5])
	return id, segments[6:], checkNames(id)
}

// parseLocationID reads the id of what stands in a location of a subscription.
func parseLocationID(text string, segments []string) (ID, []string, error) {
	if len(segments) < 8 || !isQuotas(segments) {
		return ID{}, nil, fmt.Errorf("%w: %q names nothing in a location", ErrBadID, text)
	}
	name := segments[7]
	id := ID{Subscription: segments[1], Kind: Quota, Name: name, ParentName: segments[5]}
	isFamily := len(name) > len(quotaPrefix) && strings.EqualFold(name[:len(quotaPrefix)], quotaPrefix)
	if !isFamily && !strings.EqualFold(name, quotaName) {
		return ID{}, nil, fmt.Errorf("%w: %q is no name of a quota", ErrBadID, name)
	}
	return id, segments[8:], checkNames(id)
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
