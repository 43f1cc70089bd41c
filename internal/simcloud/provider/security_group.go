// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type securityGroupModel struct {
	facts
	ID       types.String      `tfsdk:"id"`
	Name     types.String      `tfsdk:"name"`
	Group    types.String      `tfsdk:"resource_group_name"`
	Location types.String      `tfsdk:"location"`
	Tags     map[string]string `tfsdk:"tags"`
}

var _ resource.ResourceWithImportState = (*entity[securityGroupModel, *securityGroupModel])(nil)

func newSecurityGroup() resource.Resource {
	return &entity[securityGroupModel, *securityGroupModel]{
		name: "network_security_group", kind: arm.SecurityGroup,
		schema: schema.Schema{
			Description: "A network security group. Its rules are resources of their own.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the security group."),
				"resource_group_name": fixed("Resource group of the security group."),
				"location":            fixed("Region of the security group."),
				"tags":                tagsAttribute(),
			},
		},
	}
}

func (m *securityGroupModel) id() *types.String { return &m.ID }

func (m *securityGroupModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.SecurityGroup, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *securityGroupModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
}

func (m *securityGroupModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.Tags = tags(m.Tags, r.Tags)
}
