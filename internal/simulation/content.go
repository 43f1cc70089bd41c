// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"encoding/json"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/zclconf/go-cty/cty"
)

const (
	provider = "registry.terraform.io/tfweaver/simcloud"
	endpoint = "http://127.0.0.1:8080"
	// account is what stands before the ids of the cloud in those of nodes.
	account = graph.NodeID("simcloud:127.0.0.1:8080")
)

// cloudPath is where the cloud has the object of a node, as far as the node's id
// tells; see association for what it does not.
func cloudPath(id graph.NodeID) string { return string(id[len(account):]) }

// body is what a provider sends to make the thing as it is to be.
func (t *thing) body(tag string, size string) arm.Resource {
	r := arm.Resource{Location: location}
	p := &r.Properties
	switch t.typ {
	case "virtual_network":
		p.AddressSpace = &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/8"}}
	case "subnet":
		p.AddressPrefix = t.prefix
	case "network_interface":
		p.Subnet, p.NetworkSecurityGroup = reference(t.subnet), reference(t.nsg)
	case "network_security_rule":
		p.Priority, p.Direction, p.Access, p.Protocol = t.priority, "Inbound", "Allow", "Tcp"
		p.SourceAddressPrefix, p.DestinationPortRange = "*", "*"
	case "managed_disk":
		p.DiskSizeGB, p.MaxShares = 8, t.shares
	case "virtual_machine":
		p.VMSize, p.NetworkInterfaces = size, []arm.Reference{*reference(t.nic)}
		if t.disk != nil {
			p.DataDisks = []arm.Reference{*reference(t.disk)}
		}
	case "policy_document":
		p.Statements = []string{tag}
	case "account_attachment":
		p.Target = tag
	case "function":
		p.Runtime = "go"
	case "function_permission":
		p.Principal, p.Action = tag, "invoke"
	}
	if kind, _ := arm.KindByKey(t.typ); kind.Tracked() {
		r.Tags = map[string]string{"by": tag}
	} else {
		r.Location = ""
	}
	return r
}

func reference(t *thing) *arm.Reference {
	if t == nil {
		return nil
	}
	return arm.NewReference(t.id.String())
}

func encode(r arm.Resource) []byte {
	data, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("a resource that is no JSON: %v", err)) // a plain struct
	}
	return data
}

// attributes is the state of a resource as the provider shows it: what the rules
// look at, and null for the rest of it.
func attributes(id arm.ID, typ string, r arm.Resource) map[string]cty.Value {
	p, text := r.Properties, func(s string) cty.Value {
		if s == "" {
			return cty.NullVal(cty.String)
		}
		return cty.StringVal(s)
	}
	m := map[string]cty.Value{
		"id": text(id.String()), "name": text(id.Name), "provisioning_state": text(string(p.ProvisioningState)),
		"resource_group_name": text(id.Group), "location": text(r.Location), "tag": text(r.Tags["by"]),
	}
	switch typ {
	case "subnet":
		m["virtual_network_name"], m["address_prefix"] = text(id.ParentName), text(p.AddressPrefix)
		m["service_endpoints"], m["used_addresses"] = cty.NullVal(cty.List(cty.String)), number(p.UsedAddresses)
	case "network_interface":
		m["subnet_id"], m["public_ip_id"] = text(arm.RefID(p.Subnet)), text(arm.RefID(p.PublicIPAddress))
		m["network_security_group_id"] = text(arm.RefID(p.NetworkSecurityGroup))
	case "network_security_rule":
		m["network_security_group_name"] = text(id.ParentName)
	case "managed_disk":
		m["size_gb"], m["max_shares"] = cty.NumberIntVal(int64(p.DiskSizeGB)), cty.NumberIntVal(int64(p.MaxShares))
		m["attached_machine_ids"] = ids(p.AttachedMachines)
	case "virtual_machine":
		m["size"], m["network_interface_ids"], m["data_disk_ids"] = text(p.VMSize), ids(p.NetworkInterfaces), ids(p.DataDisks)
	case "quota":
		m["location"], m["family"] = text(id.ParentName), text(id.QuotaFamily())
		m["limit"], m["used"] = number(p.Limit), number(p.CurrentValue)
	case "account_attachment":
		m["target"] = text(p.Target)
	case "function_permission":
		m["function_name"] = text(id.ParentName)
	case "policy_document":
		m["statements"] = text(fmt.Sprint(p.Statements))
	}
	return m
}

func number(n *int) cty.Value {
	if n == nil {
		return cty.NullVal(cty.Number)
	}
	return cty.NumberIntVal(int64(*n))
}

func ids(refs []arm.Reference) cty.Value {
	list := make([]cty.Value, len(refs))
	for i, r := range refs {
		list[i] = cty.StringVal(r.ID)
	}
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	return cty.ListVal(list)
}

// config is a provider block that leaves everything to the environment.
func config() cty.Value {
	null := cty.NullVal(cty.String)
	return cty.ObjectVal(map[string]cty.Value{"endpoint": null, "subscription_id": null, "actor": null, "token": null})
}

// state is the thing as a state has it, or as a plan wants it.
func (t *thing) state(size string) cty.Value {
	if t.typ == association {
		return cty.ObjectVal(map[string]cty.Value{
			"id":        cty.StringVal(t.subnet.id.String() + "/networkSecurityGroupAssociation"),
			"subnet_id": cty.StringVal(t.subnet.id.String()), "network_security_group_id": cty.StringVal(t.nsg.id.String()),
		})
	}
	return cty.ObjectVal(attributes(t.id, t.typ, t.body("", size)))
}

// operation is one call on the thing; have and want are sizes of a machine.
func (t *thing) operation(action admission.Action, session admission.SessionID, have, want string) ruleengine.Operation {
	op := ruleengine.Operation{
		Provider: provider, ProviderConfig: config(), Type: "simcloud_" + t.typ, Action: action,
		Address: t.address, Session: string(session),
		Prior: t.state(have), Planned: t.state(want), Sensitive: cty.NewPathSet(),
	}
	return op
}

// object is what a read of a path has shown, for the engine.
func object(id arm.ID, r arm.Resource, there bool) ruleengine.Object {
	typ := id.Kind.Key()
	return ruleengine.Object{
		Provider: provider, ProviderConfig: config(), Type: "simcloud_" + typ,
		State: cty.ObjectVal(attributes(id, typ, r)), Gone: !there, Sensitive: cty.NewPathSet(),
	}
}
