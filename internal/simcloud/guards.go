// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// checkGroup refuses writes in a group that is not there, not there yet, or on
// its way out.
func (c *Cloud) checkGroup(ch *change) *arm.Error {
	if ch.id.Group == "" {
		return nil
	}
	group, ok := c.objects[ch.id.GroupID().Key()]
	switch {
	case ok && group.res.Properties.ProvisioningState == arm.Deleting:
		return beingDeleted(ch.id)
	case ch.id.Kind == arm.ResourceGroup:
		return nil
	case !ok || group.res.Properties.ProvisioningState == arm.Creating:
		return &arm.Error{
			HTTPStatus: http.StatusNotFound, Code: arm.CodeResourceGroupNotFound,
			Message: fmt.Sprintf("the resource group %q could not be found", ch.id.Group),
		}
	}
	return nil
}

func beingDeleted(id arm.ID) *arm.Error {
	return &arm.Error{
		HTTPStatus: http.StatusConflict, Code: arm.CodeResourceGroupBeingDeleted,
		Message: fmt.Sprintf("the resource group %q is in deprovisioning state and cannot perform this operation", id.Group),
	}
}

// checkParent refuses a child of a parent that is not there. A parent that is
// still being created is found in flight later.
func (c *Cloud) checkParent(ch *change) *arm.Error {
	parent, ok := ch.id.Parent()
	if !ok || parent.Kind == arm.ResourceGroup {
		return nil
	}
	if _, ok := c.objects[parent.Key()]; !ok {
		return &arm.Error{
			HTTPStatus: http.StatusNotFound, Code: arm.CodeParentResourceNotFound,
			Message: fmt.Sprintf("the parent resource %s could not be found", parent),
		}
	}
	return nil
}

// checkToken compares the change token. A rule is written under the token of
// its security group, always; a policy document that is there under its own,
// always, since its writers replace one another's statements; any other object
// under its own, if the caller sends one.
func (c *Cloud) checkToken(ch *change) *arm.Error {
	held := ch.call.IfMatch
	if ch.id.Kind == arm.SecurityRule {
		current := c.objects[parentKey(ch.id)].res.Etag
		switch held {
		case current:
			return nil
		case "":
			return &arm.Error{
				HTTPStatus: http.StatusPreconditionRequired, Code: arm.CodePreconditionRequired,
				Message: "a security rule is written with If-Match and the etag of its security group",
			}
		}
		return staleToken("security group", held)
	}
	if held == "" && ch.id.Kind == arm.PolicyDocument && ch.object != nil {
		return &arm.Error{
			HTTPStatus: http.StatusPreconditionRequired, Code: arm.CodePreconditionRequired,
			Message: "a policy document is written with If-Match and the etag it was read with",
		}
	}
	switch {
	case held == "", ch.object != nil && (held == "*" || held == ch.object.res.Etag):
		return nil
	}
	return staleToken("resource", held)
}

func staleToken(what, held string) *arm.Error {
	return &arm.Error{
		HTTPStatus: http.StatusPreconditionFailed, Code: arm.CodePreconditionFailed,
		Message: fmt.Sprintf("the %s has changed since its etag %s was read", what, held),
	}
}

// checkLocation refuses to move an object.
func (c *Cloud) checkLocation(ch *change) *arm.Error {
	if ch.object == nil || ch.after == nil || strings.EqualFold(ch.object.res.Location, ch.after.Location) {
		return nil
	}
	return &arm.Error{
		HTTPStatus: http.StatusConflict, Code: arm.CodeInvalidLocation,
		Message: fmt.Sprintf("the resource is in %q and cannot move to %q", ch.object.res.Location, ch.after.Location),
	}
}

// checkReferences refuses references to what is not there, and a public address
// on a second interface.
func (c *Cloud) checkReferences(ch *change) *arm.Error {
	if ch.after == nil {
		return nil
	}
	for _, r := range references(ch.after.Properties) {
		if refusal := c.resolve(r); refusal != nil {
			return refusal
		}
	}
	address := refKey(ch.after.Properties.PublicIPAddress)
	for _, user := range c.users(address) {
		if user != ch.object {
			return &arm.Error{
				HTTPStatus: http.StatusBadRequest, Code: arm.CodePublicIPTaken,
				Message: fmt.Sprintf("the public IP address %s is already used by %s", arm.RefID(ch.after.Properties.PublicIPAddress), user.id),
			}
		}
	}
	return nil
}

// reference is a property that points to another object.
type reference struct {
	kind arm.Kind
	to   *arm.Reference
}

func references(p arm.Properties) []reference {
	all := []reference{
		{arm.Subnet, p.Subnet},
		{arm.SecurityGroup, p.NetworkSecurityGroup},
		{arm.PublicIPAddress, p.PublicIPAddress},
	}
	all = slices.DeleteFunc(all, func(r reference) bool { return r.to == nil })
	for _, to := range p.NetworkInterfaces {
		all = append(all, reference{arm.NetworkInterface, &to})
	}
	for _, to := range p.DataDisks {
		all = append(all, reference{arm.ManagedDisk, &to})
	}
	return all
}

func (c *Cloud) resolve(r reference) *arm.Error {
	id, err := arm.ParseID(r.to.ID)
	if err != nil || id.Kind != r.kind {
		return &arm.Error{
			HTTPStatus: http.StatusBadRequest, Code: arm.CodeInvalidResourceReference,
			Message: fmt.Sprintf("%q is no id of a %s", r.to.ID, r.kind),
		}
	}
	if _, ok := c.objects[id.Key()]; !ok {
		return &arm.Error{
			HTTPStatus: http.StatusBadRequest, Code: arm.CodeInvalidResourceReference,
			Message: fmt.Sprintf("the referenced resource %s was not found", id),
		}
	}
	if group := c.objects[id.GroupID().Key()]; group.res.Properties.ProvisioningState == arm.Deleting {
		return beingDeleted(id)
	}
	return nil
}

// users are the objects that refer to the object of the given key, sorted.
func (c *Cloud) users(key string) []*object {
	var found []*object
	if key == "" {
		return nil
	}
	for _, o := range c.objects {
		for _, r := range references(o.res.Properties) {
			// Ids have one spelling but for upper and lower case: few are parsed.
			if strings.EqualFold(arm.RefID(r.to), key) && refKey(r.to) == key {
				found = append(found, o)
			}
		}
	}
	slices.SortFunc(found, func(a, b *object) int { return strings.Compare(a.id.Key(), b.id.Key()) })
	return found
}

// checkInUse refuses the deletion of what others refer to.
func (c *Cloud) checkInUse(ch *change) *arm.Error {
	if ch.verb != Delete {
		return nil
	}
	doomed := append(c.below(ch.id), ch.object)
	for _, o := range doomed {
		for _, user := range c.users(o.id.Key()) {
			// What goes away together does not keep itself.
			if user.id.Key() == ch.id.Key() || strings.HasPrefix(user.id.Key(), ch.id.Key()+"/") {
				continue
			}
			return inUse(ch.id, o.id, user.id)
		}
	}
	return nil
}

func inUse(deleted, used, user arm.ID) *arm.Error {
	e := &arm.Error{
		HTTPStatus: http.StatusBadRequest,
		Message:    fmt.Sprintf("%s is in use by %s and cannot be deleted", used, user),
	}
	if deleted.Kind == arm.ResourceGroup {
		e.HTTPStatus = http.StatusConflict
	}
	switch used.Kind {
	case arm.ManagedDisk:
		e.HTTPStatus, e.Code = http.StatusConflict, arm.CodeOperationNotAllowed
		e.Message = fmt.Sprintf("the disk %s is attached to %s and cannot be deleted", used, user)
	case arm.NetworkInterface:
		e.Code = arm.CodeInUseNetworkInterface
	case arm.SecurityGroup:
		e.Code = arm.CodeInUseSecurityGroup
	case arm.PublicIPAddress:
		e.Code = arm.CodeInUsePublicIP
	default:
		e.Code = arm.CodeInUseSubnet
	}
	return e
}

// checkRule refuses two rules of one direction with one priority.
func (c *Cloud) checkRule(ch *change) *arm.Error {
	if ch.id.Kind != arm.SecurityRule || ch.after == nil {
		return nil
	}
	parent, _ := ch.id.Parent()
	want := ch.after.Properties
	for _, sister := range c.below(parent) {
		p := sister.res.Properties
		if sister != ch.object && p.Priority == want.Priority && strings.EqualFold(p.Direction, want.Direction) {
			return &arm.Error{
				HTTPStatus: http.StatusBadRequest, Code: arm.CodeRuleConflict,
				Message: fmt.Sprintf("the rule %s has the same priority %d and direction %s", sister.id, p.Priority, p.Direction),
			}
		}
	}
	return nil
}
