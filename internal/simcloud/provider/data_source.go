// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// source is a data source that reads the object its names stand for.
type source[M any, P model[M]] struct {
	name    string
	schema  schema.Schema
	session *session
}

var (
	_ datasource.DataSourceWithConfigure = (*source[resourceGroupModel, *resourceGroupModel])(nil)
	_ datasource.DataSourceWithConfigure = (*source[virtualNetworkModel, *virtualNetworkModel])(nil)
)

func newResourceGroupSource() datasource.DataSource {
	return &source[resourceGroupModel, *resourceGroupModel]{
		name: "resource_group",
		schema: schema.Schema{
			Description: "A resource group, by name.",
			Attributes: map[string]schema.Attribute{
				"id":       sourceComputed("Id of the group."),
				"name":     sourceName("Name of the group."),
				"location": sourceComputed("Region of the group."),
				"tags":     sourceTags(),
			},
		},
	}
}

func newVirtualNetworkSource() datasource.DataSource {
	return &source[virtualNetworkModel, *virtualNetworkModel]{
		name: "virtual_network",
		schema: schema.Schema{
			Description: "A virtual network, by name.",
			Attributes: map[string]schema.Attribute{
				"id":                  sourceComputed("Id of the network."),
				"name":                sourceName("Name of the network."),
				"resource_group_name": sourceName("Resource group of the network."),
				"location":            sourceComputed("Region of the network."),
				"address_space":       schema.ListAttribute{Computed: true, ElementType: types.StringType, Description: "IPv4 prefixes of the network."},
				"tags":                sourceTags(),
			},
		},
	}
}

func sourceName(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: description}
}

func sourceComputed(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Description: description}
}

func sourceTags() schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, Description: "Tags of the object."}
}

// Metadata implements datasource.DataSource.
func (s *source[M, P]) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = typeName + "_" + s.name
}

// Schema implements datasource.DataSource.
func (s *source[M, P]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = withSourceFacts(s.schema)
}

// Configure implements datasource.DataSourceWithConfigure.
func (s *source[M, P]) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	s.session = configured(req.ProviderData, &resp.Diagnostics)
}

// Read implements datasource.DataSource.
func (s *source[M, P]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	m := P(new(M))
	resp.Diagnostics.Append(req.Config.Get(ctx, m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := m.target(s.session.subscription)
	if err != nil {
		resp.Diagnostics.Append(failure("read", s.name, "", err))
		return
	}
	r, err := s.session.cloud.Get(ctx, id)
	if err != nil {
		resp.Diagnostics.Append(failure("read", s.name, id.String(), err))
		return
	}
	m.fill(id, r)
	m.observed().see(r)
	*m.id() = types.StringValue(id.String())
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
