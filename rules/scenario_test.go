// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// scenario is one operation, both as Terraform would plan it and as the
// provider would send it to the cloud.
type scenario struct {
	name         string
	resourceType string
	src          string // in the form of ruletest.Parse
	method, path string
	body         arm.Resource
}

const (
	groupID   = "/subscriptions/" + zero + "/resourceGroups/net"
	typed     = "/providers/Microsoft.Network/"
	networkID = groupID + typed + "virtualNetworks/v"
	nsgID     = groupID + typed + "networkSecurityGroups/"
	nicID     = groupID + typed + "networkInterfaces/"
	pipID     = groupID + typed + "publicIPAddresses/"

	diskID       = groupID + "/providers/Microsoft.Compute/disks/"
	machineID    = groupID + "/providers/Microsoft.Compute/virtualMachines/"
	policyID     = groupID + "/providers/Microsoft.Authorization/policyDocuments/"
	functionID   = groupID + "/providers/Microsoft.Web/functions/"
	attachmentID = "/subscriptions/" + zero + "/providers/Microsoft.Management/attachments/"
)

// state writes a state from alternating names and values; a value that begins
// with a bracket is a list.
func state(which string, attrs ...string) string {
	var b strings.Builder
	b.WriteString(which + " {\n")
	for i := 0; i < len(attrs); i += 2 {
		value := fmt.Sprintf("%q", attrs[i+1])
		if attrs[i+1] == "unknown" || strings.HasPrefix(attrs[i+1], "[") {
			value = attrs[i+1]
		}
		fmt.Fprintf(&b, "%s = %s\n", attrs[i], value)
	}
	return b.String() + "}\n"
}

// change makes the states of an operation of a kind on an object.
func change(kind, id string, attrs ...string) string {
	have := state("prior", append([]string{"id", id}, attrs...)...)
	switch kind {
	case "create":
		return state("planned", append([]string{"id", "unknown"}, attrs...)...)
	case "delete":
		return have
	default:
		return have + state("planned", append([]string{"id", id}, attrs...)...)
	}
}

func method(kind string) string {
	if kind == "delete" {
		return http.MethodDelete
	}
	return http.MethodPut
}

func group(kind, name string) scenario {
	id := "/subscriptions/" + zero + "/resourceGroups/" + name
	return scenario{
		name: kind + " group " + name, resourceType: "simcloud_resource_group", src: change(kind, id, "name", name),
		method: method(kind), path: id, body: arm.Resource{Location: "north", Tags: map[string]string{"by": "test"}},
	}
}

func network(kind, name string) scenario {
	id := groupID + typed + "virtualNetworks/" + name
	return scenario{
		name: kind + " vnet " + name, resourceType: "simcloud_virtual_network",
		src:    change(kind, id, "resource_group_name", "net", "name", name),
		method: method(kind), path: id,
		body: arm.Resource{Location: "north", Properties: arm.Properties{AddressSpace: &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/16"}}}},
	}
}

// prefixes are the address ranges of the subnets by name.
func prefix(name string) string { return fmt.Sprintf("10.0.%d.0/24", name[0]) }

func subnet(kind, in, name, nsg string) scenario {
	id := groupID + typed + "virtualNetworks/" + in + "/subnets/" + name
	return scenario{
		name: kind + " subnet " + in + "/" + name, resourceType: "simcloud_subnet",
		src:    change(kind, id, "resource_group_name", "net", "virtual_network_name", in, "name", name),
		method: method(kind), path: id,
		body: arm.Resource{Properties: arm.Properties{AddressPrefix: prefix(name), NetworkSecurityGroup: reference(nsg)}},
	}
}

func reference(nsg string) *arm.Reference {
	if nsg == "" {
		return nil
	}
	return arm.NewReference(nsgID + nsg)
}

func nic(kind, name, subnetName, pip, nsg string) scenario {
	subnetID := networkID + "/subnets/" + subnetName
	attrs := []string{"resource_group_name", "net", "name", name, "subnet_id", subnetID}
	body := arm.Properties{Subnet: arm.NewReference(subnetID), NetworkSecurityGroup: reference(nsg)}
	if pip != "" {
		attrs = append(attrs, "public_ip_id", pipID+pip)
		body.PublicIPAddress = arm.NewReference(pipID + pip)
	}
	if nsg != "" {
		attrs = append(attrs, "network_security_group_id", nsgID+nsg)
	}
	return scenario{
		name: kind + " nic " + name + " in " + subnetName + strings.TrimRight(" "+pip+" "+nsg, " "), resourceType: "simcloud_network_interface",
		src: change(kind, nicID+name, attrs...), method: method(kind), path: nicID + name,
		body: arm.Resource{Location: "north", Properties: body},
	}
}

func publicIP(kind, name string) scenario {
	return scenario{
		name: kind + " pip " + name, resourceType: "simcloud_public_ip",
		src:    change(kind, pipID+name, "resource_group_name", "net", "name", name),
		method: method(kind), path: pipID + name, body: arm.Resource{Location: "north"},
	}
}

func securityGroup(kind, name string) scenario {
	return scenario{
		name: kind + " nsg " + name, resourceType: "simcloud_network_security_group",
		src:    change(kind, nsgID+name, "resource_group_name", "net", "name", name),
		method: method(kind), path: nsgID + name, body: arm.Resource{Location: "north"},
	}
}

func rule(kind, in, name string, priority int) scenario {
	id := nsgID + in + "/securityRules/" + name
	return scenario{
		name: kind + " rule " + in + "/" + name, resourceType: "simcloud_network_security_rule",
		src:    change(kind, id, "resource_group_name", "net", "network_security_group_name", in, "name", name),
		method: method(kind), path: id,
		body: arm.Resource{Properties: arm.Properties{
			Priority: priority, Direction: "Inbound", Access: "Allow", Protocol: "Tcp",
			SourceAddressPrefix: "*", DestinationPortRange: "*",
		}},
	}
}

// association is a PUT of the subnet with or without a security group.
func association(kind, subnetName, nsg string) scenario {
	subnetID := networkID + "/subnets/" + subnetName
	after := nsg
	if kind == "delete" {
		after = ""
	}
	return scenario{
		name: kind + " association " + subnetName + " " + nsg, resourceType: "simcloud_subnet_network_security_group_association",
		src: change(kind, subnetID+"/networkSecurityGroupAssociation",
			"subnet_id", subnetID, "network_security_group_id", nsgID+nsg),
		method: http.MethodPut, path: subnetID,
		body: arm.Resource{Properties: arm.Properties{AddressPrefix: prefix(subnetName), NetworkSecurityGroup: reference(after)}},
	}
}

// town is what is there before the scenarios: network v with subnets a (under
// security group w), b and c, an empty network e, interface n in subnet b, and
// groups and addresses that nobody uses. Machine m has disk d, which may be shared,
// and interface i; disk idle and interface j wait for a machine. Function f has a
// permission.
func town() []scenario {
	return []scenario{
		group("create", "net"), group("create", "far"),
		network("create", "v"), network("create", "e"),
		securityGroup("create", "w"), securityGroup("create", "free"),
		rule("create", "w", "old", 100),
		subnet("create", "v", "a", "w"), subnet("create", "v", "b", ""), subnet("create", "v", "c", ""),
		publicIP("create", "p"), publicIP("create", "q"),
		nic("create", "n", "b", "", ""),
		nic("create", "i", "b", "", ""), nic("create", "j", "b", "", ""),
		disk("create", "d", 3), disk("create", "idle", 1), disk("create", "spare", 1),
		machine("create", "m", "d", "i"),
		policyDocument("create", "o"), policyDocument("create", "o2"),
		attachment("create", "t"),
		function("create", "f"), function("create", "g"), permission("create", "f", "p"),
	}
}

// scenarios are the operations whose pairs are compared.
func scenarios() []scenario {
	return []scenario{
		group("create", "new"),
		group("update", "net"),
		group("delete", "far"),
		network("create", "u"),
		network("update", "v"),
		network("update", "e"),
		network("delete", "e"),
		subnet("create", "v", "d", ""),
		subnet("create", "e", "d", ""),
		subnet("update", "v", "b", ""),
		subnet("delete", "v", "c", ""),
		subnet("delete", "v", "a", ""),
		nic("create", "m", "b", "", ""),
		nic("create", "k", "c", "", ""),
		nic("create", "x", "b", "p", "free"),
		nic("update", "n", "b", "q", ""),
		nic("delete", "n", "b", "", ""),
		publicIP("create", "r"),
		publicIP("update", "p"),
		securityGroup("update", "w"),
		securityGroup("update", "free"),
		securityGroup("delete", "free"),
		rule("create", "w", "new", 200),
		rule("create", "free", "new", 200),
		rule("delete", "w", "old", 100),
		association("create", "b", "free"),
		association("create", "c", "w"),
		association("create", "a", "free"), // takes a off w
		association("delete", "a", "w"),
		disk("create", "new", 1),
		disk("update", "d", 3),
		disk("update", "idle", 1),
		disk("delete", "idle", 1),
		machine("create", "k", "d", ""),
		machine("create", "l", "idle", "j"),
		machine("create", "x", "", ""),
		machine("update", "m", "d", "i"),
		machine("delete", "m", "d", "i"),
		nic("update", "i", "b", "", ""),
		nic("delete", "j", "b", "", ""),
		policyDocument("create", "new"),
		policyDocument("update", "o"),
		policyDocument("delete", "o"),
		policyDocument("update", "o2"),
		attachment("create", "u"),
		attachment("update", "t"),
		attachment("delete", "t"),
		function("create", "new"),
		function("update", "f"),
		function("update", "g"),
		permission("create", "f", "q"),
		permission("update", "f", "p"),
		permission("create", "g", "p"),
		permission("delete", "f", "p"),
		quota("create", "standardBSFamily"),
		quota("update", ""),
		quota("update", "standardBSFamily"),
	}
}
