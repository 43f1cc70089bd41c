// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type resourceGroupModel struct {
	facts
	ID       types.String      `tfsdk:"id"`
	Name     types.String      `tfsdk:"name"`
	Location types.String      `tfsdk:"location"`
	Tags     map[string]string `tfsdk:"tags"`
}

var _ resource.ResourceWithImportState = (*entity[resourceGroupModel, *resourceGroupModel])(nil)

func newResourceGroup() resource.Resource {
	return &entity[resourceGroupModel, *resourceGroupModel]{
		name: "resource_group", kind: arm.ResourceGroup,
		schema: schema.Schema{
			Description: "A resource group.",
			Attributes: map[string]schema.Attribute{
				"id":       idAttribute(),
				"name":     fixed("Name of the group."),
				"location": fixed("Region of the group."),
				"tags":     tagsAttribute(),
			},
		},
	}
}

func (m *resourceGroupModel) id() *types.String { return &m.ID }

func (m *resourceGroupModel) target(subscription string) (arm.ID, error) {
	return arm.GroupID(subscription, m.Name.ValueString()), nil
}

func (m *resourceGroupModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
}

func (m *resourceGroupModel) fill(id arm.ID, r arm.Resource) {
	m.Name = spelled(m.Name, id.Name)
	m.Location = spelled(m.Location, r.Location)
	m.Tags = tags(m.Tags, r.Tags)
}
