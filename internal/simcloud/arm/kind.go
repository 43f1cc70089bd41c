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
	ManagedDisk
	VirtualMachine
	PolicyDocument
	AccountAttachment
	Function
	FunctionPermission
	// Quota bounds what machines take in a location of a subscription. It is
	// neither created nor deleted; a write asks for another limit.
	Quota
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
	return k.serviceFacts()
}

// serviceFacts are the facts of the kinds outside the network service.
func (k Kind) serviceFacts() kindFacts {
	switch k {
	case ManagedDisk:
		return kindFacts{"managed_disk", "Microsoft.Compute/disks", "disks", ResourceGroup, true}
	case VirtualMachine:
		return kindFacts{"virtual_machine", "Microsoft.Compute/virtualMachines", "virtualMachines", ResourceGroup, true}
	case PolicyDocument:
		return kindFacts{"policy_document", "Microsoft.Authorization/policyDocuments", "policyDocuments", ResourceGroup, false}
	case AccountAttachment:
		return kindFacts{"account_attachment", "Microsoft.Management/attachments", "attachments", 0, false}
	case Function:
		return kindFacts{"function", "Microsoft.Web/functions", "functions", ResourceGroup, true}
	case FunctionPermission:
		return kindFacts{"function_permission", "Microsoft.Web/functions/permissions", "permissions", Function, false}
	case Quota:
		return kindFacts{"quota", "Microsoft.Compute/locations/quotas", "quotas", 0, false}
	}
	return kindFacts{}
}

// Kinds lists every kind, parents before their children.
func Kinds() []Kind {
	return []Kind{
		ResourceGroup, VirtualNetwork, Subnet, NetworkInterface, PublicIPAddress, SecurityGroup, SecurityRule,
		ManagedDisk, VirtualMachine, PolicyDocument, AccountAttachment, Function, FunctionPermission,
		Quota,
	}
}

// Key is the name of the kind in configuration, for example "virtual_network".
func (k Kind) Key() string { return k.facts().key }

// Type is the fully qualified resource type, for example
// "Microsoft.Network/virtualNetworks/subnets".
func (k Kind) Type() string { return k.facts().armType }

// Parent is the kind whose id is the direct prefix of ids of this kind, zero
// for a resource group and for what stands directly in the subscription.
func (k Kind) Parent() Kind { return k.facts().parent }

// Tracked reports whether resources of the kind have a location and tags of
// their own. Subnets, security rules and permissions live in their parent's;
// policy documents and account attachments are nowhere in particular; the
// location of a quota is part of its id.
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

// inAccount reports whether resources of the kind stand directly in the
// subscription, outside every resource group.
func (k Kind) inAccount() bool { return k != ResourceGroup && k.Key() != "" && k.Parent() == 0 }

// inLocation reports whether resources of the kind stand in a location of the
// subscription.
func (k Kind) inLocation() bool { return k == Quota }

// namespace is the provider namespace in ids of the kind, for example
// "Microsoft.Network".
func (k Kind) namespace() string {
	namespace, _, _ := strings.Cut(k.Type(), "/")
	return namespace
}

// kindByType finds the kind with a provider namespace and a collection segment,
// directly in a group or directly in the subscription.
func kindByType(inAccount bool, namespace, segment string) (Kind, bool) {
	for _, k := range Kinds() {
		placed := k.Parent() == ResourceGroup && !inAccount || k.inAccount() && !k.inLocation() && inAccount
		if placed && strings.EqualFold(k.namespace(), namespace) && strings.EqualFold(k.facts().segment, segment) {
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
