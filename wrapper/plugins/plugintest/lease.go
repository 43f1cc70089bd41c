// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugintest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// lease is the ephemeral resource fixture_lease.
type lease struct{ region string }

type leaseModel struct {
	Region types.String `tfsdk:"region"`
}

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*lease)(nil)
	_ ephemeral.EphemeralResourceWithClose     = (*lease)(nil)
)

// Metadata gives the type name.
func (*lease) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "fixture_lease"
}

// Schema describes the resource.
func (*lease) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"region": schema.StringAttribute{Computed: true},
	}}
}

// Configure keeps the region.
func (l *lease) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	l.region, _ = req.ProviderData.(string)
}

// Open returns the region.
func (l *lease) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	note("open %s", l.region)
	resp.Diagnostics.Append(resp.Result.Set(ctx, leaseModel{Region: types.StringValue(l.region)})...)
}

// Close notes that it was closed.
func (l *lease) Close(context.Context, ephemeral.CloseRequest, *ephemeral.CloseResponse) {
	note("close %s", l.region)
}
