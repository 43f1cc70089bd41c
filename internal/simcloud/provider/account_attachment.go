// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type accountAttachmentModel struct {
	facts
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Target types.String `tfsdk:"target"`
}

var _ resource.ResourceWithImportState = (*entity[accountAttachmentModel, *accountAttachmentModel])(nil)

func newAccountAttachment() resource.Resource {
	return &entity[accountAttachmentModel, *accountAttachmentModel]{
		name: "account_attachment", kind: arm.AccountAttachment,
		schema: schema.Schema{
			Description: "An attachment to the subscription. The cloud takes one write of an attachment in a subscription at a time.",
			Attributes: map[string]schema.Attribute{
				"id":     idAttribute(),
				"name":   fixed("Name of the attachment."),
				"target": required("What is attached to the subscription."),
			},
		},
	}
}

func (m *accountAttachmentModel) id() *types.String { return &m.ID }

func (m *accountAttachmentModel) target(subscription string) (arm.ID, error) {
	return arm.AccountID(arm.AccountAttachment, subscription, m.Name.ValueString()), nil
}

func (m *accountAttachmentModel) apply(r *arm.Resource) { r.Properties.Target = m.Target.ValueString() }

func (m *accountAttachmentModel) fill(id arm.ID, r arm.Resource) {
	m.Name = spelled(m.Name, id.Name)
	m.Target = types.StringValue(r.Properties.Target)
}
