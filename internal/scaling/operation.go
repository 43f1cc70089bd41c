// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// Operation is one provider call of a run: it creates an object.
type Operation struct {
	// Address is Terraform's.
	Address string
	ID      arm.ID
	// Body is what is sent.
	Body arm.Resource
	// After are the calls of the same run that Terraform sends before, by their
	// place in the session.
	After []int
	// Needs are calls of other sessions without which the cloud would refuse this
	// one: the object that they make is not there before.
	Needs []Place
}

// Place is where an operation is: the session and the call in it, from 0.
type Place struct{ Session, Call int }

// resourceType is Terraform's.
func (o *Operation) resourceType() string { return "simcloud_" + o.ID.Kind.Key() }

// takes is what the call takes of the location with a quota, in processors.
func (o *Operation) takes() int {
	if o.ID.Kind != arm.VirtualMachine || o.Body.Location != bounded {
		return 0
	}
	size, _ := arm.SizeByName(o.Body.Properties.VMSize)
	return size.VCPUs
}

// body is the JSON that is sent.
func (o *Operation) body() ([]byte, error) {
	text, err := json.Marshal(o.Body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", o.Address, err)
	}
	return text, nil
}

// planned is the state that the provider would plan: what only the cloud can say
// is not known.
func (o *Operation) planned() cty.Value {
	p := o.Body.Properties
	values := map[string]cty.Value{
		"id": cty.UnknownVal(cty.String), "name": cty.StringVal(o.ID.Name),
		"resource_group_name": cty.StringVal(o.ID.Group), "location": text(o.Body.Location),
	}
	switch o.ID.Kind {
	case arm.ResourceGroup:
		delete(values, "resource_group_name")
	case arm.Subnet:
		values["virtual_network_name"] = cty.StringVal(o.ID.ParentName)
		values["address_prefix"] = cty.StringVal(p.AddressPrefix)
		values["used_addresses"] = cty.UnknownVal(cty.Number)
	case arm.SecurityRule:
		values["network_security_group_name"] = cty.StringVal(o.ID.ParentName)
	case arm.NetworkInterface:
		values["subnet_id"] = text(arm.RefID(p.Subnet))
		values["public_ip_id"] = text(arm.RefID(p.PublicIPAddress))
		values["network_security_group_id"] = text(arm.RefID(p.NetworkSecurityGroup))
	case arm.ManagedDisk:
		values["max_shares"] = cty.NumberIntVal(int64(max(p.MaxShares, 1)))
		values["attached_machine_ids"] = cty.UnknownVal(cty.Set(cty.String))
	case arm.VirtualMachine:
		values["size"] = cty.StringVal(p.VMSize)
		values["network_interface_ids"] = texts(p.NetworkInterfaces)
		values["data_disk_ids"] = texts(p.DataDisks)
	}
	return cty.ObjectVal(values)
}

// text is a string, null for an empty one.
func text(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}

func texts(refs []arm.Reference) cty.Value {
	if len(refs) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	var ids []cty.Value
	for _, r := range refs {
		ids = append(ids, cty.StringVal(r.ID))
	}
	return cty.ListVal(ids)
}
