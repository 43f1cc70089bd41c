// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// The scenarios of this file are about the services outside the network.

func disk(kind, name string, shares int) scenario {
	return scenario{
		name: kind + " disk " + name, resourceType: "simcloud_managed_disk",
		src:    change(kind, diskID+name, "resource_group_name", "net", "name", name),
		method: method(kind), path: diskID + name,
		body: arm.Resource{Location: "north", Properties: arm.Properties{DiskSizeGB: 8, MaxShares: shares}},
	}
}

// machine has at most one disk and one interface.
func machine(kind, name, diskName, nicName string) scenario {
	attrs := []string{"resource_group_name", "net", "name", name, "size", "Standard_B1s"}
	body := arm.Properties{VMSize: "Standard_B1s"}
	if diskName != "" {
		attrs = append(attrs, "data_disk_ids", fmt.Sprintf("[%q]", diskID+diskName))
		body.DataDisks = arm.NewReferences([]string{diskID + diskName})
	}
	if nicName != "" {
		attrs = append(attrs, "network_interface_ids", fmt.Sprintf("[%q]", nicID+nicName))
		body.NetworkInterfaces = arm.NewReferences([]string{nicID + nicName})
	}
	return scenario{
		name: kind + " vm " + name + strings.TrimRight(" "+diskName+" "+nicName, " "), resourceType: "simcloud_virtual_machine",
		src: change(kind, machineID+name, attrs...), method: method(kind), path: machineID + name,
		body: arm.Resource{Location: "north", Properties: body},
	}
}

func policyDocument(kind, name string) scenario {
	return scenario{
		name: kind + " policy " + name, resourceType: "simcloud_policy_document",
		src:    change(kind, policyID+name, "resource_group_name", "net", "name", name),
		method: method(kind), path: policyID + name,
		body: arm.Resource{Properties: arm.Properties{Statements: []string{"allow"}}},
	}
}

func attachment(kind, name string) scenario {
	return scenario{
		name: kind + " attachment " + name, resourceType: "simcloud_account_attachment",
		src:    change(kind, attachmentID+name, "name", name, "target", "x"),
		method: method(kind), path: attachmentID + name,
		body: arm.Resource{Properties: arm.Properties{Target: "x"}},
	}
}

func function(kind, name string) scenario {
	return scenario{
		name: kind + " function " + name, resourceType: "simcloud_function",
		src:    change(kind, functionID+name, "resource_group_name", "net", "name", name),
		method: method(kind), path: functionID + name,
		body: arm.Resource{Location: "north", Properties: arm.Properties{Runtime: "x"}},
	}
}

func permission(kind, in, name string) scenario {
	id := functionID + in + "/permissions/" + name
	return scenario{
		name: kind + " permission " + in + "/" + name, resourceType: "simcloud_function_permission",
		src:    change(kind, id, "resource_group_name", "net", "function_name", in, "name", name),
		method: method(kind), path: id,
		body: arm.Resource{Properties: arm.Properties{Principal: "x", Action: "invoke"}},
	}
}

// quota is that of a family, or of the whole north. The cloud has it already, so
// that creating one is a write of it, too.
func quota(kind, family string) scenario {
	id, limit := arm.QuotaID(zero, "north", family).String(), 50
	return scenario{
		name: strings.TrimRight(kind+" quota north "+family, " "), resourceType: "simcloud_quota",
		src:    change(kind, id, "location", "north", "family", family),
		method: method(kind), path: id,
		body: arm.Resource{Properties: arm.Properties{Limit: &limit}},
	}
}
