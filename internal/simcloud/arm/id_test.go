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

const net1 = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network"

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
}

func TestParseCollection(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]arm.Collection{
		"/subscriptions/s/resourceGroups":               {Parent: arm.ID{Subscription: "s"}, Kind: arm.ResourceGroup},
		net1 + "/virtualnetworks":                       {Parent: arm.GroupID("s", "g"), Kind: arm.VirtualNetwork},
		net1 + "/virtualNetworks/v/subnets":             {Parent: arm.TopID(arm.VirtualNetwork, "s", "g", "v"), Kind: arm.Subnet},
		net1 + "/networkSecurityGroups/n/securityRules": {Parent: arm.TopID(arm.SecurityGroup, "s", "g", "n"), Kind: arm.SecurityRule},
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
		"/subscriptions/s/resourceGroups/g/virtualNetworks", "/subscriptions/s/resourceGroups/g/providers/x/virtualNetworks",
	} {
		if got, err := arm.ParseCollection(text); !errors.Is(err, arm.ErrBadID) {
			t.Errorf("ParseCollection(%q) = %v, %v; want ErrBadID", text, got, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add(net1 + "/virtualNetworks/v/subnets/a")
	f.Add("/subscriptions/s/resourceGroups/g")
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
