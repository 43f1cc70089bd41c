// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type policyDocumentModel struct {
	facts
	ID         types.String `tfsdk:"id"`
	Name       types.String `tfsdk:"name"`
	Group      types.String `tfsdk:"resource_group_name"`
	Statements []string     `tfsdk:"statements"`
}

var _ resource.ResourceWithImportState = (*entity[policyDocumentModel, *policyDocumentModel])(nil)

func newPolicyDocument() resource.Resource {
	return &entity[policyDocumentModel, *policyDocumentModel]{
		name: "policy_document", kind: arm.PolicyDocument, write: writePolicy, remove: removePolicy,
		schema: schema.Schema{
			Description: "A policy document. It is written whole: statements that others put into it meanwhile are lost.",
			Attributes: map[string]schema.Attribute{
				"id":                  idAttribute(),
				"name":                fixed("Name of the document."),
				"resource_group_name": fixed("Resource group of the document."),
				"statements": schema.ListAttribute{
					Required: true, ElementType: types.StringType, Description: "All statements of the document, in order.",
				},
			},
		},
	}
}

// writePolicy replaces the document under the change token it has by now.
func writePolicy(ctx context.Context, s *session, id arm.ID, m *policyDocumentModel) (after arm.Resource, err error) {
	err = s.underToken(ctx, id, func(current arm.Resource) error {
		var r arm.Resource
		m.apply(&r)
		after, err = s.cloud.Put(ctx, id, r, current.Etag)
		return err
	})
	return after, err
}

func removePolicy(ctx context.Context, s *session, id arm.ID, _ *policyDocumentModel) error {
	return s.underToken(ctx, id, func(current arm.Resource) error {
		return s.cloud.Delete(ctx, id, current.Etag)
	})
}

func (m *policyDocumentModel) id() *types.String { return &m.ID }

func (m *policyDocumentModel) target(subscription string) (arm.ID, error) {
	return arm.TopID(arm.PolicyDocument, subscription, m.Group.ValueString(), m.Name.ValueString()), nil
}

func (m *policyDocumentModel) apply(r *arm.Resource) { r.Properties.Statements = m.Statements }

func (m *policyDocumentModel) fill(id arm.ID, r arm.Resource) {
	m.Name, m.Group = spelled(m.Name, id.Name), spelled(m.Group, id.Group)
	m.Statements = append([]string{}, r.Properties.Statements...)
}
