// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type networkInterfaceModel struct {
	facts
	ID               types.String      `tfsdk:"id"`
	Name             types.String      `tfsdk:"name"`
	Group            types.String      `tfsdk:"resource_group_name"`
	Location         types.String      `tfsdk:"location"`
	SubnetID         types.String      `tfsdk:"subnet_id"`
	PublicIPID       types.String      `tfsdk:"public_ip_id"`
	SecurityGroupID  types.String      `tfsdk:"network_security_group_id"`
	PrivateIPAddress types.String      `tfsdk:"private_ip_address"`
	Tags             map[string]string `tfsdk:"tags"`
}

var (
	_ resource.ResourceWithImportState = (*entity[networkInterfaceModel, *networkInterfaceModel])(nil)
	_ settler[networkInterfaceModel]   = (*networkInterfaceModel)(nil)
)

func newNetworkInterface() resource.Resource {
	return &entity[networkInterfaceModel, *networkInterfaceModel]{
		name: "network_interface", kind: arm.NetworkInterface,
		schema: schema.Schema{
			Description: "A network interface in a subnet.",
			Attributes: map[string]schema.Attribute{
				"id":                        idAttribute(),
				"name":                      fixed("Name of the interface."),
				"resource_group_name":       fixed("Resource group of the interface."),
				"location":                  fixed("Region of the interface."),
				"subnet_id":                 required("Subnet the interface takes its address from."),
				"public_ip_id":              optional("Public address of the interface."),
				"network_security_group_id": optional("Security group of the interface."),
				"private_ip_address": schema.StringAttribute{
					Computed: true, Description: "Address in the subnet, chosen by the cloud.",
					PlanModifiers: []planmodifier.String{unlessMoved{}},
				},
				"tags": tagsAttribute(),
			},
		},
	}
}

func (m *networkInterfaceModel) id() *types.String { return &m.ID }

func (m *networkInterfaceModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.NetworkInterface, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *networkInterfaceModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.Properties.Subnet = reference(m.SubnetID)
	r.Properties.PublicIPAddress = reference(m.PublicIPID)
	r.Properties.NetworkSecurityGroup = reference(m.SecurityGroupID)
}

func (m *networkInterfaceModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.SubnetID = spelledOptional(m.SubnetID, arm.RefID(r.Properties.Subnet))
	m.PublicIPID = spelledOptional(m.PublicIPID, arm.RefID(r.Properties.PublicIPAddress))
	m.SecurityGroupID = spelledOptional(m.SecurityGroupID, arm.RefID(r.Properties.NetworkSecurityGroup))
	m.PrivateIPAddress = types.StringValue(r.Properties.PrivateIPAddress)
	m.Tags = tags(m.Tags, r.Tags)
}

// settleAs implements settler: the address has changed if somebody has created
// the object again.
func (m *networkInterfaceModel) settleAs(planned networkInterfaceModel) {
	settleText(&m.PrivateIPAddress, planned.PrivateIPAddress)
}

// unlessMoved plans that an interface keeps its address while it stays in its
// subnet.
type unlessMoved struct{}

var _ planmodifier.String = unlessMoved{}

// Description implements planmodifier.String.
func (unlessMoved) Description(context.Context) string { return "Stays while the subnet does." }

// MarkdownDescription implements planmodifier.String.
func (m unlessMoved) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (unlessMoved) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.State.Raw.IsNull() || !req.PlanValue.IsUnknown() || req.StateValue.IsNull() {
		return
	}
	var was, will types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("subnet_id"), &was)...)
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("subnet_id"), &will)...)
	if !will.IsUnknown() && strings.EqualFold(was.ValueString(), will.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
