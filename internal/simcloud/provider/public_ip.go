// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type publicIPModel struct {
	facts
	ID        types.String      `tfsdk:"id"`
	Name      types.String      `tfsdk:"name"`
	Group     types.String      `tfsdk:"resource_group_name"`
	Location  types.String      `tfsdk:"location"`
	SKU       types.String      `tfsdk:"sku"`
	IPAddress types.String      `tfsdk:"ip_address"`
	Tags      map[string]string `tfsdk:"tags"`
}

var (
	_ resource.ResourceWithImportState = (*entity[publicIPModel, *publicIPModel])(nil)
	_ settler[publicIPModel]           = (*publicIPModel)(nil)
)

func newPublicIP() resource.Resource {
	return &entity[publicIPModel, *publicIPModel]{
		name: "public_ip", kind: arm.PublicIPAddress,
		schema: schema.Schema{
			Description: "A public IP address.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the address."),
				"resource_group_name": fixed("Resource group of the address."),
				"location":            fixed("Region of the address."),
				"sku": schema.StringAttribute{
					Optional: true, Computed: true, Default: stringdefault.StaticString("Standard"),
					Description:   "Variant of the address, Basic or Standard.",
					Validators:    []validator.String{stringvalidator.OneOf("Basic", "Standard")},
					PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				},
				"ip_address": computed("The address, chosen by the cloud."),
				"tags":       tagsAttribute(),
			},
		},
	}
}

func (m *publicIPModel) id() *types.String { return &m.ID }

func (m *publicIPModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.PublicIPAddress, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *publicIPModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.SKU = &arm.SKU{Name: m.SKU.ValueString()}
}

func (m *publicIPModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	if r.SKU != nil {
		m.SKU = spelled(m.SKU, r.SKU.Name)
	}
	m.IPAddress = types.StringValue(r.Properties.IPAddress)
	m.Tags = tags(m.Tags, r.Tags)
}

// settleAs implements settler: the address has changed if somebody has created
// the object again.
func (m *publicIPModel) settleAs(planned publicIPModel) { settleText(&m.IPAddress, planned.IPAddress) }
