// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type managedDiskModel struct {
	facts
	ID                 types.String      `tfsdk:"id"`
	Name               types.String      `tfsdk:"name"`
	Group              types.String      `tfsdk:"resource_group_name"`
	Location           types.String      `tfsdk:"location"`
	SizeGB             types.Int64       `tfsdk:"size_gb"`
	MaxShares          types.Int64       `tfsdk:"max_shares"`
	AttachedMachineIDs types.Set         `tfsdk:"attached_machine_ids"`
	Tags               map[string]string `tfsdk:"tags"`
}

var (
	_ resource.ResourceWithImportState = (*entity[managedDiskModel, *managedDiskModel])(nil)
	_ settler[managedDiskModel]        = (*managedDiskModel)(nil)
)

func newManagedDisk() resource.Resource {
	return &entity[managedDiskModel, *managedDiskModel]{
		name: "managed_disk", kind: arm.ManagedDisk,
		schema: schema.Schema{
			Description: "A disk that virtual machines are given as a data disk.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the disk."),
				"resource_group_name": fixed("Resource group of the disk."),
				"location":            fixed("Region of the disk."),
				"size_gb": schema.Int64Attribute{
					Required: true, Description: "Size of the disk in GiB.",
					Validators: []validator.Int64{int64validator.AtLeast(1)},
				},
				"max_shares": schema.Int64Attribute{
					Optional: true, Computed: true, Default: int64default.StaticInt64(1),
					Description: "How many virtual machines the disk may be attached to at once; 1 if not set.",
					Validators:  []validator.Int64{int64validator.AtLeast(1)},
				},
				"attached_machine_ids": gathered("Virtual machines that have the disk."),
				"tags":                 tagsAttribute(),
			},
		},
	}
}

func (m *managedDiskModel) id() *types.String { return &m.ID }

func (m *managedDiskModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.ManagedDisk, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *managedDiskModel) apply(r *arm.Resource) {
	r.Location, r.Tags = m.Location.ValueString(), m.Tags
	r.Properties.DiskSizeGB = int(m.SizeGB.ValueInt64())
	r.Properties.MaxShares = int(m.MaxShares.ValueInt64())
}

func (m *managedDiskModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Location = spelled(m.Location, r.Location)
	m.SizeGB = types.Int64Value(int64(r.Properties.DiskSizeGB))
	m.MaxShares = types.Int64Value(int64(r.Properties.MaxShares))
	m.AttachedMachineIDs = idSet(r.Properties.AttachedMachines)
	m.Tags = tags(m.Tags, r.Tags)
}

// settleAs implements settler.
func (m *managedDiskModel) settleAs(planned managedDiskModel) {
	if ids := planned.AttachedMachineIDs; !ids.IsUnknown() && !ids.IsNull() {
		m.AttachedMachineIDs = ids
	}
}
