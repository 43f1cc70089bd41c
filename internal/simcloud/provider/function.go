// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type functionModel struct {
	facts
	ID       types.String      `tfsdk:"id"`
	Name     types.String      `tfsdk:"name"`
	Group    types.String      `tfsdk:"resource_group_name"`
	Location types.String      `tfsdk:"location"`
	Runtime  types.String      `tfsdk:"runtime"`
	Revision types.Int64       `tfsdk:"revision"`
	Tags     map[string]string `tfsdk:"tags"`
}

type functionPermissionModel struct {
	facts
	ID        types.String `tfsdk:"id"`
	Name      types.String `tfsdk:"name"`
	Group     types.String `tfsdk:"resource_group_name"`
	Function  types.String `tfsdk:"function_name"`
	Principal types.String `tfsdk:"principal"`
	Action    types.String `tfsdk:"action"`
}

var (
	_ resource.ResourceWithImportState = (*entity[functionModel, *functionModel])(nil)
	_ resource.ResourceWithImportState = (*entity[functionPermissionModel, *functionPermissionModel])(nil)
)

func newFunction() resource.Resource {
	return &entity[functionModel, *functionModel]{
		name: "function", kind: arm.Function,
		schema: schema.Schema{
			Description: "A function. Its permissions are resources of their own, and every write of one is a new revision of the function.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the function."),
				"resource_group_name": fixed("Resource group of the function."),
				"location":            fixed("Region of the function."),
				"runtime":             required("What runs the function."),
				"revision":            schema.Int64Attribute{Computed: true, Description: "Number of writes of the function and of its permissions, counted by the cloud."},
				"tags":                tagsAttribute(),
			},
		},
	}
}

func newFunctionPermission() resource.Resource {
	return &entity[functionPermissionModel, *functionPermissionModel]{
		name: "function_permission", kind: arm.FunctionPermission,
		schema: schema.Schema{
			Description: "A permission to use a function.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the permission."),
				"resource_group_name": fixed("Resource group of the function."),
				"function_name":       fixed("Function of the permission."),
				"principal":           required("Who may use the function."),
				"action":              required("What the principal may do."),
			},
		},
	}
}

func (m *functionModel) id() *types.String { return &m.ID }

func (m *functionModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.Function, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *functionModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.Properties.Runtime = m.Runtime.ValueString()
}

func (m *functionModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.Runtime = types.StringValue(r.Properties.Runtime)
	m.Revision = types.Int64Value(int64(r.Properties.Revision))
	m.Tags = tags(m.Tags, r.Tags)
}

func (m *functionPermissionModel) id() *types.String { return &m.ID }

func (m *functionPermissionModel) target(subscription string) (arm.ID, error) {
	return arm.ChildID(arm.FunctionPermission, subscription, m.Group.ValueString(), m.Function.ValueString(), m.Name.ValueString()), nil
}

func (m *functionPermissionModel) apply(r *arm.Resource) {
	r.Properties.Principal, r.Properties.Action = m.Principal.ValueString(), m.Action.ValueString()
}

func (m *functionPermissionModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group, m.Function = spelled(m.Name, id.Name), spelled(m.Group, id.Group), spelled(m.Function, id.ParentName)
	m.Principal, m.Action = types.StringValue(r.Properties.Principal), types.StringValue(r.Properties.Action)
}
