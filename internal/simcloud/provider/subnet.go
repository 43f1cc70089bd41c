// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type subnetModel struct {
	facts
	ID               types.String `tfsdk:"id"`
	Name             types.String `tfsdk:"name"`
	Group            types.String `tfsdk:"resource_group_name"`
	Network          types.String `tfsdk:"virtual_network_name"`
	AddressPrefix    types.String `tfsdk:"address_prefix"`
	ServiceEndpoints []string     `tfsdk:"service_endpoints"`
	UsedAddresses    types.Int64  `tfsdk:"used_addresses"`
}

var (
	_ resource.ResourceWithImportState = (*entity[subnetModel, *subnetModel])(nil)
	_ settler[subnetModel]             = (*subnetModel)(nil)
)

func newSubnet() resource.Resource {
	return &entity[subnetModel, *subnetModel]{
		name: "subnet", kind: arm.Subnet, write: writeSubnet,
		schema: schema.Schema{
			Description: "A subnet of a virtual network. Its security group belongs to simcloud_subnet_network_security_group_association.",
			Attributes: map[string]schema.Attribute{
				"id":                   idAttribute(),
				"name":                 fixed("Name of the subnet."),
				"resource_group_name":  fixed("Resource group of the network."),
				"virtual_network_name": fixed("Network of the subnet."),
				"address_prefix":       required("IPv4 prefix of the subnet."),
				"used_addresses":       counted("Addresses that interfaces have, without the five that the cloud keeps for itself."),
				"service_endpoints": schema.SetAttribute{
					Optional: true, ElementType: types.StringType, Description: "Platform services the subnet reaches directly.",
				},
			},
		},
	}
}

// writeSubnet changes only what the resource owns: a PUT replaces the whole
// subnet, so the security group is read and sent back.
func writeSubnet(ctx context.Context, s *session, id arm.ID, m *subnetModel) (after arm.Resource, err error) {
	err = s.underToken(ctx, id, func(r arm.Resource) error {
		m.apply(&r)
		after, err = s.cloud.Put(ctx, id, r, r.Etag)
		return err
	})
	return after, err
}

func (m *subnetModel) id() *types.String { return &m.ID }

func (m *subnetModel) target(subscription string) (arm.ID, error) {
	return arm.ChildID(arm.Subnet, subscription, m.Group.ValueString(), m.Network.ValueString(), m.Name.ValueString()), nil
}

func (m *subnetModel) apply(r *arm.Resource) {
	r.Properties.AddressPrefix = m.AddressPrefix.ValueString()
	r.Properties.ServiceEndpoints = nil
	for _, service := range m.ServiceEndpoints {
		r.Properties.ServiceEndpoints = append(r.Properties.ServiceEndpoints, arm.ServiceEndpoint{Service: service})
	}
}

func (m *subnetModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group, m.Network = spelled(m.Name, id.Name), spelled(m.Group, id.Group), spelled(m.Network, id.ParentName)
	m.AddressPrefix = spelled(m.AddressPrefix, r.Properties.AddressPrefix)
	m.UsedAddresses = count(r.Properties.UsedAddresses)
	if len(m.ServiceEndpoints) == 0 && len(r.Properties.ServiceEndpoints) == 0 {
		return // null and empty stay as they were
	}
	m.ServiceEndpoints = nil
	for _, e := range r.Properties.ServiceEndpoints {
		m.ServiceEndpoints = append(m.ServiceEndpoints, e.Service)
	}
}

// settleAs implements settler.
func (m *subnetModel) settleAs(planned subnetModel) {
	settleCount(&m.UsedAddresses, planned.UsedAddresses)
}
