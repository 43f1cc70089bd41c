// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// hold is what an operation in flight keeps others from: a key, exclusively or
// together with other sharers.
//
// The rules, in one table (X exclusive, S shared):
//
//	virtual network PUT, DELETE   X network; DELETE also X network's existence
//	subnet PUT, DELETE            X network, X subnet
//	... a PUT that changes its NSG also X old NSG, X new NSG
//	network interface PUT, DELETE X interface, S its subnets, S existence of their
//	                              networks, S its NSGs, S its public IPs
//	public IP PUT, DELETE         X public IP
//	NSG PUT, DELETE               X NSG
//	security rule PUT, DELETE     X NSG, X rule
//	disk PUT, DELETE              X disk
//	virtual machine PUT, DELETE   X machine, S its interfaces, X its data disks: an
//	                              attachment is a write of the disk
//	policy document PUT, DELETE   X document
//	account attachment PUT, DELETE  X attachments of the subscription, X attachment
//	function PUT, DELETE          X function
//	permission PUT, DELETE        X function, X permission
//	resource group PUT, DELETE    X group
//	quota PUT                     X quota
//
// So a subnet write excludes every write of its network and of its sisters, and
// interfaces exclude subnet writes but not one another.
type hold struct {
	key       string
	exclusive bool
}

// existence is the key of the facet "this object stays there" of an object.
func existence(id arm.ID) string { return id.Key() + "#existence" }

func exclusive(keys ...string) []hold { return holds(true, keys) }

func shared(keys ...string) []hold { return holds(false, keys) }

func holds(x bool, keys []string) []hold {
	var hs []hold
	for _, k := range keys {
		if k != "" {
			hs = append(hs, hold{k, x})
		}
	}
	return hs
}

// holdsOf lists what a write of id needs. before is the object as it is, after
// as it is to be; either may be nil.
func holdsOf(id arm.ID, verb Verb, before, after *arm.Resource) []hold {
	switch id.Kind {
	case arm.VirtualNetwork:
		hs := exclusive(id.Key())
		if verb == Delete {
			hs = append(hs, exclusive(existence(id))...)
		}
		return hs
	case arm.Subnet:
		hs := exclusive(parentKey(id), id.Key())
		if verb != Delete {
			hs = append(hs, associationHolds(before, after)...)
		}
		return hs
	case arm.SecurityRule, arm.FunctionPermission:
		return exclusive(parentKey(id), id.Key())
	case arm.AccountAttachment:
		return exclusive(attachments(id), id.Key())
	case arm.VirtualMachine:
		return append(exclusive(id.Key()), machineHolds(before, after)...)
	case arm.NetworkInterface:
		hs := exclusive(id.Key())
		for _, r := range []*arm.Resource{before, after} {
			if r != nil {
				hs = append(hs, interfaceHolds(r.Properties)...)
			}
		}
		return hs
	}
	return exclusive(id.Key())
}

// attachments is the key of the one place in a subscription where attachments
// are written.
func attachments(id arm.ID) string {
	return "/subscriptions/" + strings.ToLower(id.Subscription) + "#attachments"
}

// machineHolds are the interfaces and disks of a virtual machine on both sides
// of a change.
func machineHolds(sides ...*arm.Resource) []hold {
	var hs []hold
	for _, r := range sides {
		if r == nil {
			continue
		}
		for _, to := range r.Properties.NetworkInterfaces {
			hs = append(hs, shared(refKey(&to))...)
		}
		for _, to := range r.Properties.DataDisks {
			hs = append(hs, exclusive(refKey(&to))...)
		}
	}
	return hs
}

func parentKey(id arm.ID) string {
	parent, _ := id.Parent()
	return parent.Key()
}

// associationHolds are the security groups on both sides of a change of a
// subnet's security group, none if it does not change.
func associationHolds(before, after *arm.Resource) []hold {
	var was, will string
	if before != nil {
		was = refKey(before.Properties.NetworkSecurityGroup)
	}
	if after != nil {
		will = refKey(after.Properties.NetworkSecurityGroup)
	}
	if was == will {
		return nil
	}
	return exclusive(was, will)
}

func interfaceHolds(p arm.Properties) []hold {
	hs := shared(refKey(p.Subnet), refKey(p.NetworkSecurityGroup), refKey(p.PublicIPAddress))
	if subnet, err := arm.ParseID(arm.RefID(p.Subnet)); err == nil {
		if network, ok := subnet.Parent(); ok {
			hs = append(hs, shared(existence(network))...)
		}
	}
	return hs
}

// refKey is the key of what a reference points to. A reference that is no id
// keeps nobody from anything: it is refused later.
func refKey(r *arm.Reference) string {
	id, err := arm.ParseID(arm.RefID(r))
	if err != nil {
		return ""
	}
	return id.Key()
}

// collides reports whether two sets of holds exclude each other.
func collides(a, b []hold) bool {
	for _, x := range a {
		for _, y := range b {
			if x.key == y.key && (x.exclusive || y.exclusive) {
				return true
			}
		}
	}
	return false
}

// checkInFlight refuses a change that collides with an operation in flight. A
// write of a virtual network may supersede subnet writes instead, if the switch
// is on; they are collected in ch.supersedes.
func (c *Cloud) checkInFlight(ch *change) *arm.Error {
	ch.holds = holdsOf(ch.id, ch.verb, ch.before(), ch.after)
	for _, op := range c.inFlight {
		switch {
		case !collides(ch.holds, op.holds) && !holdsInside(op, ch):
		case c.maySupersede(ch, op):
			ch.supersedes = append(ch.supersedes, op)
		default:
			return inFlightError(ch, op)
		}
	}
	return nil
}

// maySupersede reports whether a change may push an operation out: a PUT of a
// network replaces the whole network document, subnets included.
func (c *Cloud) maySupersede(ch *change, op *operation) bool {
	return c.cfg.Supersede && ch.id.Kind == arm.VirtualNetwork && ch.verb != Delete &&
		parentKey(op.id) == ch.id.Key()
}

// holdsInside reports whether the change deletes a group in which an operation
// from outside the group holds something.
func holdsInside(op *operation, ch *change) bool {
	if ch.id.Kind != arm.ResourceGroup || ch.verb != Delete {
		return false
	}
	inside := ch.id.Key() + "/"
	if strings.HasPrefix(op.id.Key(), inside) {
		return false
	}
	return slices.ContainsFunc(op.holds, func(h hold) bool { return strings.HasPrefix(h.key, inside) })
}

// inFlightCode is how the service of a kind calls a conflict of two writes.
func inFlightCode(kind arm.Kind) arm.Code {
	switch kind {
	case arm.AccountAttachment:
		return arm.CodeConcurrentModification
	case arm.Function, arm.FunctionPermission:
		return arm.CodeResourceConflict
	}
	return arm.CodeAnotherOperationInProgress
}

func inFlightError(ch *change, op *operation) *arm.Error {
	return &arm.Error{
		HTTPStatus: 409,
		Code:       inFlightCode(ch.id.Kind),
		Blocking:   op.number,
		Message: fmt.Sprintf("another operation on this or a dependent resource is in progress: %s of %s (operation %s)",
			op.name(), op.id, op.number),
	}
}
