// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"maps"

	sourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// facts are the attributes that the cloud keeps about every object.
//
// Others change them at any time, so an update plans them as they are and leaves
// in the state what was planned; the next refresh takes what has changed. So no
// update shows them as known after apply, and none is found inconsistent because
// of what somebody else did meanwhile.
type facts struct {
	ProvisioningState types.String `tfsdk:"provisioning_state"`
	UID               types.String `tfsdk:"uid"`
}

// Descriptions of the attributes in facts.
const (
	stateDescription = "Where the object stands: Creating, Updating or Deleting while a write is in flight, else Succeeded, Failed or Canceled as the latest one ended."
	uidDescription   = "Name of this life of the object: one that is deleted and created again under the same id has another one."
)

// observed is the part of a model that every model has.
func (f *facts) observed() *facts { return f }

// see takes the facts from the object.
func (f *facts) see(r arm.Resource) {
	f.ProvisioningState = types.StringValue(string(r.Properties.ProvisioningState))
	f.UID = types.StringValue(r.Properties.UniqueID)
}

// settleAs leaves what was planned, where the plan knew it.
func (f *facts) settleAs(planned *facts) {
	settleText(&f.ProvisioningState, planned.ProvisioningState)
	settleText(&f.UID, planned.UID)
}

// settler is a model with more attributes than those in facts that others change.
type settler[M any] interface {
	// settleAs leaves in them what was planned, where the plan knew it.
	settleAs(planned M)
}

func settleText(have *types.String, planned types.String) {
	if !planned.IsUnknown() && !planned.IsNull() {
		*have = planned
	}
}

func settleCount(have *types.Int64, planned types.Int64) {
	if !planned.IsUnknown() && !planned.IsNull() {
		*have = planned
	}
}

// withFacts adds the attributes of facts to the schema of a resource.
func withFacts(s schema.Schema) schema.Schema {
	s.Attributes = maps.Clone(s.Attributes)
	s.Attributes["provisioning_state"] = schema.StringAttribute{
		Computed: true, Description: stateDescription,
		PlanModifiers: []planmodifier.String{succeeds{}},
	}
	s.Attributes["uid"] = computed(uidDescription)
	return s
}

// withSourceFacts adds the attributes of facts to the schema of a data source.
func withSourceFacts(s sourceschema.Schema) sourceschema.Schema {
	s.Attributes = maps.Clone(s.Attributes)
	s.Attributes["provisioning_state"] = sourceComputed(stateDescription)
	s.Attributes["uid"] = sourceComputed(uidDescription)
	return s
}

// succeeds plans what a successful update leaves behind, which is known, for an
// object that is there.
type succeeds struct{}

var _ planmodifier.String = succeeds{}

// Description implements planmodifier.String.
func (succeeds) Description(context.Context) string { return "An update that succeeds ends so." }

// MarkdownDescription implements planmodifier.String.
func (m succeeds) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (succeeds) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if !req.State.Raw.IsNull() && req.PlanValue.IsUnknown() {
		resp.PlanValue = types.StringValue(string(arm.Succeeded))
	}
}

// counted is a number that the cloud counts and that changes with other objects.
func counted(description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Computed: true, Description: description,
		PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
	}
}

// gathered are ids that the cloud gathers and that change with other objects.
func gathered(description string) schema.SetAttribute {
	return schema.SetAttribute{
		Computed: true, ElementType: types.StringType, Description: description,
		PlanModifiers: []planmodifier.Set{setplanmodifier.UseStateForUnknown()},
	}
}

// count is a number of the cloud, null if it gave none.
func count(n *int) types.Int64 {
	if n == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*n))
}
