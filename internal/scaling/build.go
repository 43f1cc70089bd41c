// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"fmt"
	"math/rand/v2"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Bounds of what a session makes. With its resource group, a network and
// a security group that makes 6 to 18 calls.
const (
	mostSubnets   = 3
	leastMachines = 2
	mostMachines  = 4
	mostRules     = 3
)

// builder makes one session.
type builder struct {
	n        int
	sharing  Sharing
	chance   *rand.Rand
	session  Session
	location string
	// cores are what it takes of the bounded location.
	cores int

	// group, security and subnets are what interfaces come after; security is
	// the security group where the session makes one.
	group             int
	security, subnets []int
}

func newBuilder(n int, sharing Sharing, seed uint64) *builder {
	b := &builder{n: n, sharing: sharing, chance: chance(seed, n, 1), location: elsewhere}
	b.session.Groups = []string{groupName(n)}
	if sharing == Quota || sharing == ShortQuota {
		b.location = bounded
	}
	return b
}

// add adds a call that comes after others, and returns its place.
func (b *builder) add(address string, id arm.ID, p arm.Properties, after ...int) int {
	o := Operation{Address: address, ID: id, Body: arm.Resource{Properties: p}, After: after}
	if id.Kind.Tracked() {
		o.Body.Location = b.location
	}
	b.session.Calls = append(b.session.Calls, o)
	return len(b.session.Calls) - 1
}

// build makes a group with a network, subnets, a security group with rules, and
// machines with their interfaces.
func (b *builder) build() {
	b.group = b.add("simcloud_resource_group.this", arm.GroupID(subscription, groupName(b.n)), arm.Properties{})
	b.addSubnets(1 + b.chance.IntN(mostSubnets))
	security := b.addRules(b.chance.IntN(mostRules + 1))
	machines := leastMachines + b.chance.IntN(mostMachines-leastMachines+1)
	for m := range machines {
		b.addMachine(m, security)
	}
}

// place is the group in which something that may be shared stands.
func (b *builder) place(shared bool) string {
	if shared {
		b.session.Groups = append(b.session.Groups, sharedGroup)
		return sharedGroup
	}
	return groupName(b.n)
}

func (b *builder) addSubnets(count int) {
	group, after, needs := b.network()
	for k := range count {
		number := b.n*mostSubnets + k
		p := arm.Properties{AddressPrefix: fmt.Sprintf("10.%d.%d.0/24", number>>8, number&255)}
		id := arm.ChildID(arm.Subnet, subscription, group, "net", fmt.Sprintf("s%04d-%d", b.n, k))
		s := b.add(fmt.Sprintf("simcloud_subnet.this[%d]", k), id, p, after...)
		b.session.Calls[s].Needs = needs
		b.subnets = append(b.subnets, s)
	}
}

// network is the group of the network that subnets are put into, and what makes
// it.
func (b *builder) network() (group string, after []int, needs []Place) {
	switch {
	case b.sharing == Network:
		return b.place(true), nil, nil
	case b.sharing == Handover && b.n > 0:
		// The session before makes the network; its second call does.
		b.session.Groups = append(b.session.Groups, groupName(b.n-1))
		return groupName(b.n - 1), nil, []Place{{b.n - 1, 1}}
	}
	own := b.add("simcloud_virtual_network.this", networkID(groupName(b.n)), space(), b.group)
	return groupName(b.n), []int{own}, nil
}

// addRules adds rules, and returns the security group for interfaces, if any.
func (b *builder) addRules(count int) *arm.Reference {
	shared := b.sharing == SecurityGroup
	if shared {
		count = max(count, 1)
	}
	if count == 0 {
		return nil
	}
	group, after := b.place(shared), []int(nil)
	if !shared {
		after = []int{b.add("simcloud_network_security_group.this", securityID(group), arm.Properties{}, b.group)}
	}
	b.security = after
	for k := range count {
		id := arm.ChildID(arm.SecurityRule, subscription, group, "nsg", fmt.Sprintf("r%04d-%d", b.n, k))
		b.add(fmt.Sprintf("simcloud_network_security_rule.this[%d]", k), id, b.rule(k), after...)
	}
	return arm.NewReference(securityID(group).String())
}

// rule is the k-th rule of the session, with a priority that no other session
// uses.
func (b *builder) rule(k int) arm.Properties {
	number := b.n*mostRules + k
	const priorities = 3900
	return arm.Properties{
		Priority: 100 + number%priorities, Direction: []string{"Inbound", "Outbound"}[number/priorities%2],
		Access: "Allow", Protocol: "Tcp", SourceAddressPrefix: "*", DestinationPortRange: "443",
	}
}

func (b *builder) addMachine(m int, security *arm.Reference) {
	subnet := b.subnets[m%len(b.subnets)]
	own := groupName(b.n)
	id := arm.TopID(arm.NetworkInterface, subscription, own, fmt.Sprintf("nic%d", m))
	to := arm.NewReference(b.session.Calls[subnet].ID.String())
	after := append([]int{b.group, subnet}, b.security...)
	nic := b.add(fmt.Sprintf("simcloud_network_interface.this[%d]", m), id, arm.Properties{Subnet: to, NetworkSecurityGroup: security}, after...)
	p := arm.Properties{VMSize: machineSize, Image: "debian", NetworkInterfaces: arm.NewReferences([]string{id.String()})}
	b.add(fmt.Sprintf("simcloud_virtual_machine.this[%d]", m), arm.TopID(arm.VirtualMachine, subscription, own, fmt.Sprintf("vm%d", m)), p, b.group, nic)
	if b.location == bounded {
		b.cores += machineCores
	}
}
