// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// idAttribute is the computed id of every resource.
func idAttribute() schema.StringAttribute {
	return computed("Id of the object in the cloud.")
}

// computed is a text that the cloud chooses once.
func computed(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, Description: description,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// fixed is a required text whose change makes a new object.
func fixed(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Required: true, Description: description,
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}

func required(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: description}
}

func optional(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Description: description}
}

func tagsAttribute() schema.MapAttribute {
	return schema.MapAttribute{Optional: true, ElementType: types.StringType, Description: "Tags of the object."}
}

// spelled is the text of the cloud, or the text already there if they differ
// only in case.
func spelled(have types.String, got string) types.String {
	if !have.IsNull() && !have.IsUnknown() && strings.EqualFold(have.ValueString(), got) {
		return have
	}
	return types.StringValue(got)
}

// spelledOptional is spelled, with null for an empty text of the cloud.
func spelledOptional(have types.String, got string) types.String {
	if got == "" {
		return types.StringNull()
	}
	return spelled(have, got)
}

// tags are the tags of the cloud; no tags stay null or empty as they were.
func tags(have, got map[string]string) map[string]string {
	if len(have) == 0 && len(got) == 0 {
		return have
	}
	return maps.Clone(got)
}

// idSet are the ids of the cloud.
func idSet(refs []arm.Reference) types.Set {
	ids := make([]attr.Value, 0, len(refs))
	for _, r := range refs {
		ids = append(ids, types.StringValue(r.ID))
	}
	return types.SetValueMust(types.StringType, ids)
}

// reference is a reference to the id in an optional argument.
func reference(id types.String) *arm.Reference { return arm.NewReference(id.ValueString()) }
