// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

type securityRuleModel struct {
	facts
	ID                   types.String `tfsdk:"id"`
	Name                 types.String `tfsdk:"name"`
	Group                types.String `tfsdk:"resource_group_name"`
	SecurityGroup        types.String `tfsdk:"network_security_group_name"`
	Priority             types.Int64  `tfsdk:"priority"`
	Direction            types.String `tfsdk:"direction"`
	Access               types.String `tfsdk:"access"`
	Protocol             types.String `tfsdk:"protocol"`
	SourceAddressPrefix  types.String `tfsdk:"source_address_prefix"`
	DestinationPortRange types.String `tfsdk:"destination_port_range"`
}

var _ resource.ResourceWithImportState = (*entity[securityRuleModel, *securityRuleModel])(nil)

func newSecurityRule() resource.Resource {
	return &entity[securityRuleModel, *securityRuleModel]{
		name: "network_security_rule", kind: arm.SecurityRule, write: writeRule, remove: removeRule,
		schema: schema.Schema{
			Description: "A rule of a network security group.",
			Attributes: map[string]schema.Attribute{
				"id":                          idAttribute(),
				"name":                        fixed("Name of the rule."),
				"resource_group_name":         fixed("Resource group of the security group."),
				"network_security_group_name": fixed("Security group of the rule."),
				"priority": schema.Int64Attribute{
					Required: true, Description: "Place of the rule among those of its direction, 100 to 4096.",
					Validators: []validator.Int64{int64validator.Between(100, 4096)},
				},
				"direction":              choice("Inbound or Outbound.", "Inbound", "Outbound"),
				"access":                 choice("Allow or Deny.", "Allow", "Deny"),
				"protocol":               choice("Tcp, Udp, Icmp or *.", "Tcp", "Udp", "Icmp", "*"),
				"source_address_prefix":  anything("Addresses the rule applies to; * if not set."),
				"destination_port_range": anything("Ports the rule applies to; * if not set."),
			},
		},
	}
}

func choice(description string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: description, Validators: []validator.String{stringvalidator.OneOf(values...)}}
}

func anything(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("*"), Description: description}
}

// writeRule writes under the change token of the security group, of which the
// rule is a part.
func writeRule(ctx context.Context, s *session, id arm.ID, m *securityRuleModel) (after arm.Resource, err error) {
	holder, _ := id.Parent()
	err = s.underToken(ctx, holder, func(group arm.Resource) error {
		var r arm.Resource
		m.apply(&r)
		after, err = s.cloud.Put(ctx, id, r, group.Etag)
		return err
	})
	return after, err
}

func removeRule(ctx context.Context, s *session, id arm.ID, _ *securityRuleModel) error {
	holder, _ := id.Parent()
	return s.underToken(ctx, holder, func(group arm.Resource) error {
		return s.cloud.Delete(ctx, id, group.Etag)
	})
}

func (m *securityRuleModel) id() *types.String { return &m.ID }

func (m *securityRuleModel) target(subscription string) (arm.ID, error) {
	return arm.ChildID(arm.SecurityRule, subscription, m.Group.ValueString(), m.SecurityGroup.ValueString(), m.Name.ValueString()), nil
}

func (m *securityRuleModel) apply(r *arm.Resource) {
	r.Properties = arm.Properties{
		Priority: int(m.Priority.ValueInt64()), Direction: m.Direction.ValueString(), Access: m.Access.ValueString(), Protocol: m.Protocol.ValueString(),
		SourceAddressPrefix: m.SourceAddressPrefix.ValueString(), DestinationPortRange: m.DestinationPortRange.ValueString(),
	}
}

func (m *securityRuleModel) fill(id arm.ID, r arm.Resource) {
	p := r.Properties
	m.Name, m.Group, m.SecurityGroup = spelled(m.Name, id.Name), spelled(m.Group, id.Group), spelled(m.SecurityGroup, id.ParentName)
	m.Priority = types.Int64Value(int64(p.Priority))
	m.Direction, m.Access, m.Protocol = spelled(m.Direction, p.Direction), spelled(m.Access, p.Access), spelled(m.Protocol, p.Protocol)
	m.SourceAddressPrefix = spelled(m.SourceAddressPrefix, p.SourceAddressPrefix)
	m.DestinationPortRange = spelled(m.DestinationPortRange, p.DestinationPortRange)
}
