// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func number(n int) *int { return &n }

func fullResource() arm.Resource {
	return arm.Resource{
		ID: "i", Tags: map[string]string{"a": "b"}, SKU: &arm.SKU{Name: "Basic"},
		Properties: arm.Properties{
			AddressSpace:         &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/8"}},
			ServiceEndpoints:     []arm.ServiceEndpoint{{Service: "s"}},
			NetworkSecurityGroup: arm.NewReference("nsg"), Subnet: arm.NewReference("subnet"), PublicIPAddress: arm.NewReference("pip"),
			NetworkInterfaces: arm.NewReferences([]string{"nic"}), DataDisks: arm.NewReferences([]string{"disk"}), Statements: []string{"s"},
			AttachedMachines: arm.NewReferences([]string{"vm"}), UsedAddresses: number(1), Limit: number(2), CurrentValue: number(3),
		},
	}
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	r := fullResource()
	c := r.Clone()
	c.Tags["a"] = "x"
	c.SKU.Name = "x"
	c.Properties.AddressSpace.AddressPrefixes[0] = "x"
	c.Properties.ServiceEndpoints[0].Service = "x"
	c.Properties.NetworkSecurityGroup.ID = "x"
	c.Properties.Subnet.ID = "x"
	c.Properties.PublicIPAddress.ID = "x"
	c.Properties.NetworkInterfaces[0].ID = "x"
	c.Properties.DataDisks[0].ID = "x"
	c.Properties.Statements[0] = "x"
	c.Properties.AttachedMachines[0].ID = "x"
	*c.Properties.UsedAddresses, *c.Properties.Limit, *c.Properties.CurrentValue = 7, 7, 7
	if diff := cmp.Diff(fullResource(), r); diff != "" {
		t.Errorf("a change of the clone reached the original (-want +got):\n%s", diff)
	}
}

func TestNoReferenceHasAnEmptyID(t *testing.T) {
	t.Parallel()
	if arm.NewReference("") != nil || arm.RefID(nil) != "" {
		t.Error("an empty id must be no reference")
	}
}

func TestErrorNamesCodeStatusAndTarget(t *testing.T) {
	t.Parallel()
	e := &arm.Error{HTTPStatus: 409, Code: arm.CodeAnotherOperationInProgress, Message: "busy", Target: "/x", Blocking: "op-1", RetryAfter: time.Second}
	for _, part := range []string{"AnotherOperationInProgress", "409 Conflict", "busy", "/x"} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q lacks %q", e, part)
		}
	}
	want := arm.ErrorBody{Error: arm.ErrorDetail{
		Code: arm.CodeAnotherOperationInProgress, Message: "busy", Target: "/x",
		Details: []arm.ErrorDetail{{Code: arm.CodeAnotherOperationInProgress, Message: "operation in flight: op-1", Target: "op-1"}},
	}}
	if diff := cmp.Diff(want, e.Body()); diff != "" {
		t.Error(diff)
	}
}

func TestKindsAreFoundByTheirKeys(t *testing.T) {
	t.Parallel()
	for _, k := range arm.Kinds() {
		if got, ok := arm.KindByKey(k.Key()); !ok || got != k {
			t.Errorf("KindByKey(%q) = %v, %v", k.Key(), got, ok)
		}
	}
	if _, ok := arm.KindByKey("disk"); ok {
		t.Error("disk is no kind")
	}
	if arm.Kind(0).String() != "unknown kind" {
		t.Errorf("the zero kind reads %q", arm.Kind(0))
	}
}

func TestSizesAreFoundInAnySpelling(t *testing.T) {
	t.Parallel()
	for _, want := range arm.Sizes() {
		got, ok := arm.SizeByName(strings.ToUpper(want.Name))
		family, isFamily := arm.FamilyByName(strings.ToLower(want.Family))
		if !ok || got != want || !isFamily || family != want.Family {
			t.Errorf("%s is found as %+v", want.Name, got)
		}
		if want.VCPUs < 1 || want.MaxDataDisks < 1 || want.MaxInterfaces < 1 {
			t.Errorf("a size with nothing in it: %+v", want)
		}
	}
	if _, ok := arm.SizeByName("Standard_None"); ok {
		t.Error("a size that is not offered is found")
	}
	if _, ok := arm.FamilyByName(""); ok {
		t.Error("a family that is not offered is found")
	}
}
