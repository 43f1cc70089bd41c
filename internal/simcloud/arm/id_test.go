// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const (
	in1      = "/subscriptions/s/resourceGroups/g/providers/"
	net1     = in1 + "Microsoft.Network"
	account1 = "/subscriptions/s/providers/Microsoft.Management"

	location1 = "/subscriptions/s/providers/Microsoft.Compute/locations/north"
)

func TestParseIDReadsEveryKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]arm.ID{
		"/subscriptions/s/resourceGroups/g":                     arm.GroupID("s", "g"),
		net1 + "/virtualNetworks/v":                             arm.TopID(arm.VirtualNetwork, "s", "g", "v"),
		net1 + "/virtualNetworks/v/subnets/a":                   arm.ChildID(arm.Subnet, "s", "g", "v", "a"),
		net1 + "/networkInterfaces/n":                           arm.TopID(arm.NetworkInterface, "s", "g", "n"),
		net1 + "/publicIPAddresses/p":                           arm.TopID(arm.PublicIPAddress, "s", "g", "p"),
		net1 + "/networkSecurityGroups/n":                       arm.TopID(arm.SecurityGroup, "s", "g", "n"),
		net1 + "/networkSecurityGroups/n/securityRules/r":       arm.ChildID(arm.SecurityRule, "s", "g", "n", "r"),
		in1 + "Microsoft.Compute/disks/d":                       arm.TopID(arm.ManagedDisk, "s", "g", "d"),
		in1 + "Microsoft.Compute/virtualMachines/m":             arm.TopID(arm.VirtualMachine, "s", "g", "m"),
		in1 + "Microsoft.Authorization/policyDocuments/p":       arm.TopID(arm.PolicyDocument, "s", "g", "p"),
		in1 + "Microsoft.Web/functions/f":                       arm.TopID(arm.Function, "s", "g", "f"),
		in1 + "Microsoft.Web/functions/f/permissions/p":         arm.ChildID(arm.FunctionPermission, "s", "g", "f", "p"),
		account1 + "/attachments/a":                             arm.AccountID(arm.AccountAttachment, "s", "a"),
		location1 + "/quotas/cores":                             arm.QuotaID("s", "north", ""),
		location1 + "/quotas/cores-standardBSFamily":            arm.QuotaID("s", "north", "standardBSFamily"),
		"/subscriptions/s/resourceGroups/providers":             arm.GroupID("s", "providers"),
		"/subscriptions/s/resourceGroups/virtualNetworks":       arm.GroupID("s", "virtualNetworks"),
		net1 + "/virtualNetworks/subnets/subnets/securityRules": arm.ChildID(arm.Subnet, "s", "g", "subnets", "securityRules"),
	} {
		got, err := arm.ParseID(text)
		if err != nil {
			t.Errorf("ParseID(%q): %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseID(%q) (-want +got):\n%s", text, diff)
		}
		if got.String() != text {
			t.Errorf("ParseID(%q).String() = %q", text, got)
		}
	}
}

func TestIDsDifferOnlyInCaseShareAKey(t *testing.T) {
	t.Parallel()
	a, err := arm.ParseID("/SUBSCRIPTIONS/S/resourcegroups/Net/PROVIDERS/microsoft.network/VIRTUALNETWORKS/V/SubNets/A")
	if err != nil {
		t.Fatal(err)
	}
	b := arm.ChildID(arm.Subnet, "s", "net", "v", "a")
	if a.Key() != b.Key() {
		t.Errorf("keys differ: %q and %q", a.Key(), b.Key())
	}
	if a.Name != "A" || a.Group != "Net" {
		t.Errorf("the spelling of names is lost: %+v", a)
	}
}

func TestParseIDRefusesWhatIsNoID(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "/", "subscriptions/s/resourceGroups/g", "/subscriptions/s", "/subscriptions/s/resourceGroups",
		"/subscriptions/s/resourceGroups/g/", "/subscriptions//resourceGroups/g",
		net1, net1 + "/virtualNetworks", net1 + "/disks/d", net1 + "/virtualNetworks/v/subnets",
		net1 + "/virtualNetworks/v/securityRules/r", net1 + "/networkInterfaces/n/subnets/a",
		"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualNetworks/v",
		net1 + "/virtualMachines/m", in1 + "Microsoft.Management/attachments/a", in1 + "Microsoft.Web/permissions/p",
		"/subscriptions/s/providers", account1, account1 + "/attachments", account1 + "/attachments/a/b/c", account1 + "/functions/f",
		"/subscriptions/s/providers/Microsoft.Web/attachments/a", "/subscriptions/s/providers/Microsoft.Web/functions/f",
		"/subscriptions/s/providers/Microsoft.Resources/resourceGroups/g", account1 + "/attachments/a b",
		location1, location1 + "/quotas", location1 + "/quotas/cores/x", location1 + "/quotas/disks", location1 + "/quotas/cores-",
		location1 + "/quota/cores", "/subscriptions/s/providers/Microsoft.Compute/quotas/cores", account1 + "/locations/north/quotas/cores",
		net1 + "/virtualNetworks/v w", net1 + "/virtualNetworks/..", net1 + "/virtualNetworks/" + strings.Repeat("v", 81),
		"/" + strings.Repeat("a/", 2000),
	} {
		if id, err := arm.ParseID(text); !errors.Is(err, arm.ErrBadID) {
			t.Errorf("ParseID(%q) = %v, %v; want ErrBadID", text, id, err)
		}
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	subnet := arm.ChildID(arm.Subnet, "s", "g", "v", "a")
	var chain []string
	for id, ok := subnet, true; ok; id, ok = id.Parent() {
		chain = append(chain, id.Kind.Key()+" "+id.Name)
	}
	if diff := cmp.Diff([]string{"subnet a", "virtual_network v", "resource_group g"}, chain); diff != "" {
		t.Error(diff)
	}
	if parent, ok := arm.AccountID(arm.AccountAttachment, "s", "a").Parent(); ok {
		t.Errorf("an account attachment stands in %v", parent)
	}
}

func TestTheFamilyOfAQuotaIsInItsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"cores": "", "Cores-standardBSFamily": "standardBSFamily"} {
		id, err := arm.ParseID(location1 + "/quotas/" + name)
		if err != nil || id.QuotaFamily() != want || id.ParentName != "north" {
			t.Errorf("%s reads as %+v, %v", name, id, err)
		}
	}
	if parent, ok := arm.QuotaID("s", "north", "").Parent(); ok {
		t.Errorf("a quota stands in %v", parent)
	}
}

func TestParseCollection(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]arm.Collection{
		"/subscriptions/s/resourceGroups":               {Parent: arm.ID{Subscription: "s"}, Kind: arm.ResourceGroup},
		net1 + "/virtualnetworks":                       {Parent: arm.GroupID("s", "g"), Kind: arm.VirtualNetwork},
		net1 + "/virtualNetworks/v/subnets":             {Parent: arm.TopID(arm.VirtualNetwork, "s", "g", "v"), Kind: arm.Subnet},
		net1 + "/networkSecurityGroups/n/securityRules": {Parent: arm.TopID(arm.SecurityGroup, "s", "g", "n"), Kind: arm.SecurityRule},
		in1 + "microsoft.compute/disks":                 {Parent: arm.GroupID("s", "g"), Kind: arm.ManagedDisk},
		in1 + "Microsoft.Web/functions/f/permissions":   {Parent: arm.TopID(arm.Function, "s", "g", "f"), Kind: arm.FunctionPermission},
		location1 + "/Quotas":                           {Parent: arm.ID{Subscription: "s", ParentName: "north"}, Kind: arm.Quota},
		account1 + "/Attachments":                       {Parent: arm.ID{Subscription: "s"}, Kind: arm.AccountAttachment},
	} {
		got, err := arm.ParseCollection(text)
		if err != nil {
			t.Errorf("ParseCollection(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseCollection(%q) (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{
		"", "/subscriptions/s", net1, net1 + "/virtualNetworks/v", net1 + "/virtualNetworks/v/securityRules",
		account1, account1 + "/disks", location1, location1 + "/disks", account1 + "/locations/north/quotas", "/subscriptions/s/providers/Microsoft.Resources/resourceGroups", in1 + "Microsoft.Compute/subnets",
		in1 + "Microsoft.Web/functions/permissions", "/subscriptions/s/resourceGroups/g/virtualNetworks", "/subscriptions/s/resourceGroups/g/providers/x/virtualNetworks",
	} {
		if got, err := arm.ParseCollection(text); !errors.Is(err, arm.ErrBadID) {
			t.Errorf("ParseCollection(%q) = %v, %v; want ErrBadID", text, got, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add(net1 + "/virtualNetworks/v/subnets/a")
	f.Add("/subscriptions/s/resourceGroups/g")
	f.Add(account1 + "/attachments/a")
	f.Add(location1 + "/quotas/cores-x")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := arm.ParseID(text)
		if err != nil {
			return
		}
		again, err := arm.ParseID(id.String())
		if err != nil || again != id {
			t.Errorf("%q reads as %+v, whose text reads as %+v, %v", text, id, again, err)
		}
		if !strings.EqualFold(id.String(), text) {
			t.Errorf("%q reads as %q", text, id)
		}
	})
}
