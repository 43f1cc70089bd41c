// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugintest

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// thing is the resource fixture_thing.
type thing struct{ region string }

type thingModel struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Size   types.Int64  `tfsdk:"size"`
	Secret types.String `tfsdk:"secret"`
	Blob   types.String `tfsdk:"blob"`
	// Hold is a file; a change waits until it exists.
	Hold types.String `tfsdk:"hold"`
	// Fault makes a change go wrong: "error", "crash", or "half", by which a
	// create fails although it has made the object.
	Fault types.String `tfsdk:"fault"`
	Rules types.List   `tfsdk:"rule"`
}

var (
	_ resource.ResourceWithConfigure   = (*thing)(nil)
	_ resource.ResourceWithImportState = (*thing)(nil)
)

// Metadata gives the type name.
func (*thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fixture_thing"
}

// Schema describes the resource.
func (*thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Version: 3,
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseStateForUnknown(),
			}},
			"name":   schema.StringAttribute{Required: true},
			"size":   schema.Int64Attribute{Optional: true},
			"secret": schema.StringAttribute{Optional: true, Sensitive: true},
			"blob":   schema.StringAttribute{Optional: true},
			"hold":   schema.StringAttribute{Optional: true},
			"fault":  schema.StringAttribute{Optional: true},
		},
		Blocks: map[string]schema.Block{
			"rule": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{
				Attributes: map[string]schema.Attribute{
					"port":  schema.Int64Attribute{Optional: true},
					"token": schema.StringAttribute{Optional: true, Sensitive: true},
				},
			}},
		},
	}
}

// Configure keeps the region.
func (r *thing) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.region, _ = req.ProviderData.(string)
}

// Create makes the object and its private data.
func (r *thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(change(ctx, "create", model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	model.ID = types.StringValue(r.region + "/" + model.Name.ValueString())
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "made", []byte(`"`+r.region+`"`))...)
	if model.Fault.ValueString() == "half" {
		resp.Diagnostics.AddError("Half a thing", "The rest of it could not be made.")
	}
}

// Update changes the object.
func (r *thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model, state thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(change(ctx, "update", model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	model.ID = state.ID
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

// Delete removes the object.
func (r *thing) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	resp.Diagnostics.Append(change(ctx, "delete", model)...)
}

// Read finds the object as it is, except that one of size 404 is gone, and one
// that was imported as the last part of its id says.
func (r *thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	note("read %s", model.Name.ValueString())
	if model.Size.ValueInt64() == 404 || strings.HasSuffix(model.ID.ValueString(), "/gone") {
		resp.State.RemoveResource(ctx)
	}
	if strings.HasSuffix(model.ID.ValueString(), "/unreadable") {
		resp.Diagnostics.AddError("Not readable", "Ask again later.")
	}
}

// ImportState imports an object by its id, or fails as the last part of the id
// says.
func (r *thing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	note("import %s in %s", req.ID, r.region)
	switch req.ID[strings.LastIndexByte(req.ID, '/')+1:] {
	case "missing":
		resp.Diagnostics.AddError("Not found", "There is no "+req.ID+".")
	case "denied":
		resp.Diagnostics.AddError("Not found", "There is no "+req.ID+".")
		resp.Diagnostics.AddError("Access denied", "Nor may you ask.")
	case "crash":
		crash("import")
	case "hang":
		<-ctx.Done()
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

// change notes a change, waits as told and goes wrong as told.
func change(ctx context.Context, what string, model thingModel) diag.Diagnostics {
	var diags diag.Diagnostics
	name := model.Name.ValueString()
	note("%s %s", what, name)
	if hold := model.Hold.ValueString(); hold != "" && !await(ctx, hold) {
		note("cancelled %s", name)
		diags.AddError("Cancelled", "The provider was asked to stop.")
		return diags
	}
	switch model.Fault.ValueString() {
	case "crash":
		crash(what)
	case "error":
		diags.AddError("Out of things", "No "+name+" today.")
	}
	note("done %s", name)
	return diags
}

// await waits until a file exists and reports whether it does.
func await(ctx context.Context, path string) bool {
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}
