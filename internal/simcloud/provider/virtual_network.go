// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type virtualNetworkModel struct {
	facts
	ID           types.String      `tfsdk:"id"`
	Name         types.String      `tfsdk:"name"`
	Group        types.String      `tfsdk:"resource_group_name"`
	Location     types.String      `tfsdk:"location"`
	AddressSpace []string          `tfsdk:"address_space"`
	Tags         map[string]string `tfsdk:"tags"`
}

var _ resource.ResourceWithImportState = (*entity[virtualNetworkModel, *virtualNetworkModel])(nil)

func newVirtualNetwork() resource.Resource {
	return &entity[virtualNetworkModel, *virtualNetworkModel]{
		name: "virtual_network", kind: arm.VirtualNetwork,
		schema: schema.Schema{
			Description: "A virtual network. Its subnets are resources of their own.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the network."),
				"resource_group_name": fixed("Resource group of the network."),
				"location":            fixed("Region of the network."),
				"address_space": schema.ListAttribute{
					Required: true, ElementType: types.StringType, Description: "IPv4 prefixes of the network.",
					Validators: []validator.List{listvalidator.SizeAtLeast(1)},
				},
				"tags": tagsAttribute(),
			},
		},
	}
}

func (m *virtualNetworkModel) id() *types.String { return &m.ID }

func (m *virtualNetworkModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.VirtualNetwork, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *virtualNetworkModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.Properties.AddressSpace = &arm.AddressSpace{AddressPrefixes: m.AddressSpace}
}

func (m *virtualNetworkModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.Tags = tags(m.Tags, r.Tags)
	if space := r.Properties.AddressSpace; space != nil {
		m.AddressSpace = space.AddressPrefixes
	}
}
