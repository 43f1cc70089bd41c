// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	sourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type quotaModel struct {
	facts
	ID       types.String `tfsdk:"id"`
	Location types.String `tfsdk:"location"`
	Family   types.String `tfsdk:"family"`
	Limit    types.Int64  `tfsdk:"limit"`
	Used     types.Int64  `tfsdk:"used"`
}

var (
	_ resource.ResourceWithImportState   = (*entity[quotaModel, *quotaModel])(nil)
	_ datasource.DataSourceWithConfigure = (*source[quotaModel, *quotaModel])(nil)
	_ settler[quotaModel]                = (*quotaModel)(nil)
)

// Descriptions that the resource and the data source share.
const (
	quotaLocation = "Region of the quota."
	quotaFamily   = "Family of sizes the quota is for, such as standardDSv5Family; all of them together if not set."
	quotaUsed     = "Virtual processors of the machines there are, running or not."
)

// newQuota is a quota of virtual processors. The cloud has it before it is created
// here and after it is destroyed.
func newQuota() resource.Resource {
	return &entity[quotaModel, *quotaModel]{
		name: "quota", kind: arm.Quota, adopts: true,
		remove: func(context.Context, *session, arm.ID, *quotaModel) error { return nil },
		schema: schema.Schema{
			Description: "A quota of virtual processors in a region. The region has it already: creating it here requests the limit, destroying it only forgets it.",
			Attributes: map[string]schema.Attribute{
				"id":       idAttribute(),
				"location": fixed(quotaLocation),
				"family": schema.StringAttribute{
					Optional: true, Description: quotaFamily,
					PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				},
				"limit": schema.Int64Attribute{
					Required: true, Description: "Virtual processors that machines may have.",
					Validators: []validator.Int64{int64validator.AtLeast(0)},
				},
				"used": counted(quotaUsed),
			},
		},
	}
}

func newQuotaSource() datasource.DataSource {
	return &source[quotaModel, *quotaModel]{
		name: "quota",
		schema: sourceschema.Schema{
			Description: "A quota of virtual processors in a region.",
			Attributes: map[string]sourceschema.Attribute{
				"id":       sourceComputed("Id of the quota."),
				"location": sourceName(quotaLocation),
				"family":   sourceschema.StringAttribute{Optional: true, Description: quotaFamily},
				"limit":    sourceschema.Int64Attribute{Computed: true, Description: "Virtual processors that machines may have."},
				"used":     sourceschema.Int64Attribute{Computed: true, Description: quotaUsed},
			},
		},
	}
}

func (m *quotaModel) id() *types.String { return &m.ID }

func (m *quotaModel) target(subscription string) (arm.ID, error) {
	return arm.ParseID(arm.QuotaID(subscription, m.Location.ValueString(), m.Family.ValueString()).String())
}

func (m *quotaModel) apply(r *arm.Resource) {
	limit := int(m.Limit.ValueInt64())
	r.Properties.Limit = &limit
}

func (m *quotaModel) fill(id arm.ID, r arm.Resource) {
	m.Location = spelled(m.Location, id.ParentName)
	m.Family = spelledOptional(m.Family, id.QuotaFamily())
	m.Limit, m.Used = count(r.Properties.Limit), count(r.Properties.CurrentValue)
}

// settleAs implements settler.
func (m *quotaModel) settleAs(planned quotaModel) { settleCount(&m.Used, planned.Used) }
