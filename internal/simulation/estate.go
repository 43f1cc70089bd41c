// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// location is where everything is.
const location = "north"

// thing is one resource of the world, as a configuration describes it.
type thing struct {
	id arm.ID
	// typ is Terraform's type without the provider's prefix.
	typ, address string
	// refs are what it refers to, and what contains it.
	refs []*thing
	// byPart are the references by argument.
	subnet, nsg, nic, disk *thing
	prefix, size           string
	shares, priority       int
	// base: it is there from the beginning and belongs to no workspace.
	base bool
}

// path is where the cloud has it. An association is a property of its subnet.
func (t *thing) path() string {
	if t.typ == association {
		return t.subnet.id.String()
	}
	return t.id.String()
}

const association = "subnet_network_security_group_association"

// estate is everything that there may be.
type estate struct {
	w      *World
	base   []*thing
	things []*thing
	group  *thing
	nets   []*thing
	nsgs   []*thing
	disks  []*thing
	subs   []*thing
	// left are interfaces that no machine uses yet.
	left     []*thing
	funcs    []*thing
	prefixes int
	priority int
}

func (e *estate) thing(kind arm.Kind, id arm.ID, refs ...*thing) *thing {
	t := &thing{id: id, typ: kind.Key(), refs: refs}
	t.address = fmt.Sprintf("simcloud_%s.%s", t.typ, id.Name)
	e.things = append(e.things, t)
	return t
}

func (e *estate) top(kind arm.Kind, name string, refs ...*thing) *thing {
	group := e.group
	return e.thing(kind, arm.TopID(kind, arm.DefaultSubscription, group.id.Name, name), append(refs, group)...)
}

func (e *estate) below(kind arm.Kind, parent *thing, name string) *thing {
	return e.thing(kind, arm.ChildID(kind, arm.DefaultSubscription, parent.id.Group, parent.id.Name, name), parent)
}

// newEstate makes what all workspaces share: a network with a small subnet, a
// security group, a disk that several machines may have, and a function.
func newEstate(w *World) *estate {
	e := &estate{w: w, priority: 100}
	e.group = e.thing(arm.ResourceGroup, arm.GroupID(arm.DefaultSubscription, "shared"))
	net := e.network("net")
	e.subs = append(e.subs, e.newSubnet(net, "common"))
	e.nsgs = append(e.nsgs, e.top(arm.SecurityGroup, "wall"))
	disk := e.top(arm.ManagedDisk, "pool")
	disk.shares = 2
	e.disks = append(e.disks, disk)
	e.funcs = append(e.funcs, e.top(arm.Function, "hook"))
	e.base = e.things
	for _, t := range e.base {
		t.base = true
	}
	e.things = nil
	return e
}

func (e *estate) network(name string) *thing {
	net := e.top(arm.VirtualNetwork, name)
	e.nets = append(e.nets, net)
	return net
}

// newSubnet has three or eleven addresses to give.
func (e *estate) newSubnet(net *thing, name string) *thing {
	s := e.below(arm.Subnet, net, name)
	bits := 29
	if e.w.rng.IntN(2) == 0 {
		bits = 28
	}
	s.prefix = fmt.Sprintf("10.%d.%d.0/%d", len(e.nets), e.prefixes, bits)
	e.prefixes++
	return s
}

func pick[T any](w *World, list []T) T { return list[w.rng.IntN(len(list))] }

// grow adds one thing of a random kind, which may refer to what others have.
func (e *estate) grow(name string) *thing {
	switch n := e.w.rng.IntN(100); {
	case n < 20:
		s := e.newSubnet(pick(e.w, e.nets), name)
		e.subs = append(e.subs, s)
		return s
	case n < 40:
		return e.newInterface(name)
	case n < 54 && len(e.left) > 0:
		return e.newMachine(name)
	case n < 60:
		d := e.top(arm.ManagedDisk, name)
		d.shares = 1 + e.w.rng.IntN(2)
		e.disks = append(e.disks, d)
		return d
	case n < 64:
		g := e.top(arm.SecurityGroup, name)
		e.nsgs = append(e.nsgs, g)
		return g
	case n < 72:
		r := e.below(arm.SecurityRule, pick(e.w, e.nsgs), name)
		e.priority++
		r.priority = e.priority
		return r
	case n < 82:
		return e.newAssociation()
	case n < 86:
		return e.network(name)
	case n < 90:
		return e.top(arm.PolicyDocument, name)
	case n < 94:
		return e.thing(arm.AccountAttachment, arm.AccountID(arm.AccountAttachment, arm.DefaultSubscription, name))
	case n < 96:
		f := e.top(arm.Function, name)
		e.funcs = append(e.funcs, f)
		return f
	default:
		return e.below(arm.FunctionPermission, pick(e.w, e.funcs), name)
	}
}

func (e *estate) newInterface(name string) *thing {
	subnet := pick(e.w, e.subs)
	n := e.top(arm.NetworkInterface, name, subnet)
	n.subnet = subnet
	if e.w.rng.IntN(4) == 0 {
		n.nsg = pick(e.w, e.nsgs)
		n.refs = append(n.refs, n.nsg)
	}
	e.left = append(e.left, n)
	return n
}

func (e *estate) newMachine(name string) *thing {
	i := e.w.rng.IntN(len(e.left))
	nic := e.left[i]
	e.left = append(e.left[:i:i], e.left[i+1:]...)
	m := e.top(arm.VirtualMachine, name, nic)
	m.nic, m.size = nic, pick(e.w, []string{"Standard_B1s", "Standard_B2s", "Standard_D2s_v5", "Standard_D4s_v5"})
	if e.w.rng.IntN(2) == 0 {
		m.disk = pick(e.w, e.disks)
		m.refs = append(m.refs, m.disk)
	}
	return m
}

// newAssociation puts a subnet under a security group; each subnet has one at
// most, or else two of them would write the same property.
func (e *estate) newAssociation() *thing {
	var free []*thing
	for _, s := range e.subs {
		if s.nsg == nil {
			free = append(free, s)
		}
	}
	if len(free) == 0 {
		return nil
	}
	subnet, nsg := pick(e.w, free), pick(e.w, e.nsgs)
	subnet.nsg = nsg // only notes that it is taken: a subnet has no such argument
	t := &thing{id: subnet.id, typ: association, subnet: subnet, nsg: nsg, refs: []*thing{subnet, nsg}}
	t.address = fmt.Sprintf("simcloud_%s.%s", association, subnet.id.Name)
	e.things = append(e.things, t)
	return t
}
