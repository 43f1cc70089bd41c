// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type virtualMachineModel struct {
	facts
	ID           types.String      `tfsdk:"id"`
	Name         types.String      `tfsdk:"name"`
	Group        types.String      `tfsdk:"resource_group_name"`
	Location     types.String      `tfsdk:"location"`
	Size         types.String      `tfsdk:"size"`
	Image        types.String      `tfsdk:"image"`
	InterfaceIDs []string          `tfsdk:"network_interface_ids"`
	DataDiskIDs  []string          `tfsdk:"data_disk_ids"`
	Tags         map[string]string `tfsdk:"tags"`
}

var _ resource.ResourceWithImportState = (*entity[virtualMachineModel, *virtualMachineModel])(nil)

func newVirtualMachine() resource.Resource {
	return &entity[virtualMachineModel, *virtualMachineModel]{
		name: "virtual_machine", kind: arm.VirtualMachine,
		schema: schema.Schema{
			Description: "A virtual machine. A new size, and other disks or interfaces, are given to the machine that is there.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the machine."),
				"resource_group_name": fixed("Resource group of the machine."),
				"location":            fixed("Region of the machine."),
				"size":                required("Size of the machine, such as Standard_D2s_v5; it says how many processors the machine takes of the quota."),
				"image": schema.StringAttribute{
					Optional: true, Description: "Image the machine is made from. Another one makes another machine.",
					PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				},
				"network_interface_ids": schema.ListAttribute{
					Optional: true, ElementType: types.StringType, Description: "Interfaces of the machine, the primary one first.",
				},
				"data_disk_ids": schema.SetAttribute{
					Optional: true, ElementType: types.StringType, Description: "Managed disks that are attached to the machine.",
				},
				"tags": tagsAttribute(),
			},
		},
	}
}

func (m *virtualMachineModel) id() *types.String { return &m.ID }

func (m *virtualMachineModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.VirtualMachine, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *virtualMachineModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.Properties.VMSize, r.Properties.Image = m.Size.ValueString(), m.Image.ValueString()
	r.Properties.NetworkInterfaces = arm.NewReferences(m.InterfaceIDs)
	r.Properties.DataDisks = arm.NewReferences(m.DataDiskIDs)
}

func (m *virtualMachineModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.Size, m.Image = spelled(m.Size, r.Properties.VMSize), optionalText(m.Image, r.Properties.Image)
	m.InterfaceIDs = spelledIDs(m.InterfaceIDs, r.Properties.NetworkInterfaces)
	m.DataDiskIDs = spelledIDs(m.DataDiskIDs, r.Properties.DataDisks)
	m.Tags = tags(m.Tags, r.Tags)
}

// spelledIDs are the ids of the cloud, each in the spelling already there if
// they differ only in case; none stay null or empty as they were.
func spelledIDs(have []string, got []arm.Reference) []string {
	if len(have) == 0 && len(got) == 0 {
		return have
	}
	ids := make([]string, 0, len(got))
	for _, to := range got {
		id := to.ID
		if i := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(h, id) }); i >= 0 {
			id = have[i]
		}
		ids = append(ids, id)
	}
	return ids
}

// optionalText is the text of the cloud; an empty one stays null or empty as it
// was.
func optionalText(have types.String, got string) types.String {
	if got == "" && (have.IsNull() || have.ValueString() == "") {
		return have
	}
	return types.StringValue(got)
}
