// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugintest

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// fixture is the provider. Its region ends up in every object that it makes,
// so that a mix-up of configurations shows.
type fixture struct{}

type fixtureModel struct {
	Region types.String `tfsdk:"region"`
	Key    types.String `tfsdk:"key"`
	Reject types.Bool   `tfsdk:"reject"`
	Crash  types.Bool   `tfsdk:"crash"`
}

var _ provider.ProviderWithEphemeralResources = (*fixture)(nil)

// Metadata gives the type name prefix.
func (*fixture) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "fixture"
}

// Schema describes the provider block.
func (*fixture) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"region": schema.StringAttribute{Optional: true},
		"key":    schema.StringAttribute{Optional: true, Sensitive: true},
		"reject": schema.BoolAttribute{Optional: true},
		"crash":  schema.BoolAttribute{Optional: true},
	}}
}

// Configure notes the region, or fails as told.
func (*fixture) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model fixtureModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	note("configure %s", model.Region.ValueString())
	if model.Crash.ValueBool() {
		crash("configure")
	}
	if model.Reject.ValueBool() {
		resp.Diagnostics.AddError("Rejected", "The configuration says so.")
	}
	region := model.Region.ValueString()
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = region, region, region
}

// crash ends the process as a bug in a provider does, beyond the reach of any
// recover.
func crash(what string) {
	go func() { panic("plugintest crash in " + what) }()
	time.Sleep(time.Minute)
}

// Resources, DataSources and EphemeralResources list what there is.
func (*fixture) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &thing{} }}
}

// DataSources lists none.
func (*fixture) DataSources(context.Context) []func() datasource.DataSource { return nil }

// EphemeralResources lists fixture_lease.
func (*fixture) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &lease{} }}
}
