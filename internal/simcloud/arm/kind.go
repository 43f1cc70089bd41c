// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm

import "strings"

// Kind says what a resource is.
type Kind int

// The kinds the simulated cloud offers. The zero Kind is no kind at all.
const (
	ResourceGroup Kind = iota + 1
	VirtualNetwork
	Subnet
	NetworkInterface
	PublicIPAddress
	SecurityGroup
	SecurityRule
)

// kindFacts is what never changes about a kind.
type kindFacts struct {
	key     string // configuration key, singular, snake case
	armType string // fully qualified type
	segment string // collection segment in an id
	parent  Kind   // the kind whose id is the direct prefix
	tracked bool   // has a location and tags of its own
}

func (k Kind) facts() kindFacts {
	switch k {
	case ResourceGroup:
		return kindFacts{"resource_group", "Microsoft.Resources/subscriptions/resourceGroups", "resourceGroups", 0, true}
	case VirtualNetwork:
		return kindFacts{"virtual_network", "Microsoft.Network/virtualNetworks", "virtualNetworks", ResourceGroup, true}
	case Subnet:
		return kindFacts{"subnet", "Microsoft.Network/virtualNetworks/subnets", "subnets", VirtualNetwork, false}
	case NetworkInterface:
		return kindFacts{"network_interface", "Microsoft.Network/networkInterfaces", "networkInterfaces", ResourceGroup, true}
	case PublicIPAddress:
		return kindFacts{"public_ip", "Microsoft.Network/publicIPAddresses", "publicIPAddresses", ResourceGroup, true}
	case SecurityGroup:
		return kindFacts{"network_security_group", "Microsoft.Network/networkSecurityGroups", "networkSecurityGroups", ResourceGroup, true}
	case SecurityRule:
		return kindFacts{"network_security_rule", "Microsoft.Network/networkSecurityGroups/securityRules", "securityRules", SecurityGroup, false}
	}
	return kindFacts{}
}

// Kinds lists every kind, parents before their children.
func Kinds() []Kind {
	return []Kind{ResourceGroup, VirtualNetwork, Subnet, NetworkInterface, PublicIPAddress, SecurityGroup, SecurityRule}
}

// Key is the name of the kind in configuration, for example "virtual_network".
func (k Kind) Key() string { return k.facts().key }

// Type is the fully qualified resource type, for example
// "Microsoft.Network/virtualNetworks/subnets".
func (k Kind) Type() string { return k.facts().armType }

// Parent is the kind whose id is the direct prefix of ids of this kind, zero
// for a resource group.
func (k Kind) Parent() Kind { return k.facts().parent }

// Tracked reports whether resources of the kind have a location and tags of
// their own. Subnets and security rules live in their parent's.
func (k Kind) Tracked() bool { return k.facts().tracked }

// String is the configuration key, so that kinds read well in errors.
func (k Kind) String() string {
	if key := k.Key(); key != "" {
		return key
	}
	return "unknown kind"
}

// KindByKey finds a kind by its configuration key.
func KindByKey(key string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Key() == key {
			return k, true
		}
	}
	return 0, false
}

// kindBySegment finds the kind whose collection segment below parent is the
// given one; the cloud ignores case there.
func kindBySegment(parent Kind, segment string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Parent() == parent && strings.EqualFold(k.facts().segment, segment) {
			return k, true
		}
	}
	return 0, false
}
