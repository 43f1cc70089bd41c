// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// associationSuffix stands behind the id of the subnet in the id of an association.
const associationSuffix = "/networkSecurityGroupAssociation"

type subnetAssociationModel struct {
	facts
	ID              types.String `tfsdk:"id"`
	SubnetID        types.String `tfsdk:"subnet_id"`
	SecurityGroupID types.String `tfsdk:"network_security_group_id"`
}

var _ resource.ResourceWithImportState = (*entity[subnetAssociationModel, *subnetAssociationModel])(nil)

func newSubnetAssociation() resource.Resource {
	return &entity[subnetAssociationModel, *subnetAssociationModel]{
		name: "subnet_network_security_group_association", kind: arm.Subnet, suffix: associationSuffix,
		present: func(r arm.Resource) bool { return r.Properties.NetworkSecurityGroup != nil },
		write:   writeAssociation, remove: removeAssociation,
		schema: schema.Schema{
			Description: "The security group of a subnet. In the cloud it is a property of the subnet.",
			Attributes: map[string]schema.Attribute{
				"id":                        idAttribute(),
				"subnet_id":                 fixed("Subnet that gets the security group."),
				"network_security_group_id": fixed("Security group of the subnet."),
			},
		},
	}
}

// writeAssociation changes the security group of the subnet and nothing else.
func writeAssociation(ctx context.Context, s *session, id arm.ID, m *subnetAssociationModel) (after arm.Resource, err error) {
	err = s.underToken(ctx, id, func(subnet arm.Resource) error {
		if subnet.ID == "" {
			return &arm.Error{HTTPStatus: http.StatusNotFound, Code: arm.CodeResourceNotFound, Message: "the subnet is not there", Target: id.String()}
		}
		m.apply(&subnet)
		after, err = s.cloud.Put(ctx, id, subnet, subnet.Etag)
		return err
	})
	return after, err
}

// removeAssociation takes the security group off the subnet, unless the subnet
// is gone or has another one by now.
func removeAssociation(ctx context.Context, s *session, id arm.ID, m *subnetAssociationModel) error {
	return s.underToken(ctx, id, func(subnet arm.Resource) error {
		if !strings.EqualFold(arm.RefID(subnet.Properties.NetworkSecurityGroup), m.SecurityGroupID.ValueString()) {
			return nil
		}
		subnet.Properties.NetworkSecurityGroup = nil
		_, err := s.cloud.Put(ctx, id, subnet, subnet.Etag)
		return err
	})
}

func (m *subnetAssociationModel) id() *types.String { return &m.ID }

func (m *subnetAssociationModel) target(string) (arm.ID, error) {
	return arm.ParseID(m.SubnetID.ValueString())
}

func (m *subnetAssociationModel) apply(r *arm.Resource) {
	r.Properties.NetworkSecurityGroup = reference(m.SecurityGroupID)
}

func (m *subnetAssociationModel) fill(id arm.ID, r arm.Resource) {
	m.SubnetID = spelled(m.SubnetID, id.String())
	m.SecurityGroupID = spelledOptional(m.SecurityGroupID, arm.RefID(r.Properties.NetworkSecurityGroup))
}
