// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// specimens are objects of every kind that sessions make, related in all ways.
func specimens() []Operation {
	b := builder{location: elsewhere}
	group := func(kind arm.Kind, name string) arm.ID {
		return arm.TopID(kind, subscription, sharedGroup, name)
	}
	subnet := func(network, name, prefix string, security *arm.Reference) {
		b.add(name, arm.ChildID(arm.Subnet, subscription, sharedGroup, network, name), arm.Properties{AddressPrefix: prefix, NetworkSecurityGroup: security})
	}
	guard := arm.NewReference(securityID(sharedGroup).String())
	old := arm.NewReference(arm.ChildID(arm.Subnet, subscription, sharedGroup, "net", "old").String())
	subnet("net", "s1", "10.0.1.0/24", nil)
	subnet("net", "s2", "10.0.2.0/24", guard)
	b.add("net2", group(arm.VirtualNetwork, "net2"), space())
	b.add("nic1", group(arm.NetworkInterface, "nic1"), arm.Properties{Subnet: old})
	b.add("nic2", group(arm.NetworkInterface, "nic2"), arm.Properties{Subnet: old, NetworkSecurityGroup: guard})
	for k, name := range []string{"r1", "r2"} {
		p := (&builder{n: 1}).rule(k)
		b.add(name, arm.ChildID(arm.SecurityRule, subscription, sharedGroup, "nsg", name), p)
	}
	b.add("nsg2", group(arm.SecurityGroup, "nsg2"), arm.Properties{})
	disk := arm.NewReferences([]string{group(arm.ManagedDisk, "disk").String()})
	machine := func(name, nic string, disks []arm.Reference) {
		nics := arm.NewReferences([]string{group(arm.NetworkInterface, nic).String()})
		b.add(name, group(arm.VirtualMachine, name), arm.Properties{VMSize: machineSize, Image: "debian", NetworkInterfaces: nics, DataDisks: disks})
	}
	machine("vm1", "there1", disk)
	machine("vm2", "there2", disk)
	machine("vm3", "there3", nil)
	return b.session.Calls
}

// before is what the specimens need.
func before() Scene {
	s := Scene{Shared: furniture()}
	b := builder{location: elsewhere}
	b.add("old", arm.ChildID(arm.Subnet, subscription, sharedGroup, "net", "old"), arm.Properties{AddressPrefix: "10.9.0.0/24"})
	for _, name := range []string{"there1", "there2", "there3"} {
		old := arm.NewReference(b.session.Calls[0].ID.String())
		b.add(name, arm.TopID(arm.NetworkInterface, subscription, sharedGroup, name), arm.Properties{Subnet: old})
	}
	b.add("disk", arm.TopID(arm.ManagedDisk, subscription, sharedGroup, "disk"), arm.Properties{DiskSizeGB: 10, MaxShares: 2})
	s.Shared = append(s.Shared, b.session.Calls...)
	return s
}

// TestTouchesAreWhatTheCloudExcludes sends every two calls to a fresh cloud, one
// directly behind the other: the second is refused as busy exactly if their touches
// collide.
func TestTouchesAreWhatTheCloudExcludes(t *testing.T) {
	t.Parallel()
	all := specimens()
	collisions := 0
	for i := range all {
		for j := range all {
			if i == j {
				continue
			}
			st, err := newStage(before(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, refusal := st.write(&all[i], "a"); refusal != nil {
				t.Fatalf("%s: %v", all[i].Address, refusal)
			}
			_, refusal := st.write(&all[j], "b")
			if refusal != nil && !busy(refusal) {
				t.Fatalf("%s behind %s: %v", all[j].Address, all[i].Address, refusal)
			}
			want := Collide(Touches(&all[i]), Touches(&all[j]))
			if got := refusal != nil; got != want {
				t.Errorf("%s behind %s: refused %t, touches collide %t", all[j].Address, all[i].Address, got, want)
			}
			if want {
				collisions++
			}
			if err := st.cloud.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if n := len(all) * (len(all) - 1); collisions == 0 || collisions == n {
		t.Errorf("%d of %d pairs collide: the test decides nothing", collisions, n)
	}
}
