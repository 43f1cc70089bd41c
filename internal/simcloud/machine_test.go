// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func TestADiskIsOnAsManyMachinesAsItHasShares(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), disk("d", 2), disk("e", 0), vm("a", "Standard_B1s", "d"), vm("b", "Standard_B1s", "D"))
	l.refused(409, arm.CodeDiskMaxSharesExceeded)(l.send(vm("c", "Standard_B1s", "d")))
	l.gone(vmPath + "c")
	l.refused(409, arm.CodeDiskMaxSharesExceeded)(l.send(disk("d", 1)))
	if got := l.get(diskPath + "e").Properties.MaxShares; got != 1 {
		t.Errorf("a disk has %d shares if nothing is said", got)
	}
	l.built(vm("a", "Standard_B1s", "e")) // leaves d and takes e
	l.refused(409, arm.CodeDiskMaxSharesExceeded)(l.send(vm("b", "Standard_B1s", "d", "e")))
	l.built(vm("c", "Standard_B1s", "d"))
	deletion := l.must(l.delete(vmPath + "c"))
	l.busy(l.send(vm("a", "Standard_B1s", "d")))
	l.settle()
	l.outcome(deletion, arm.OperationSucceeded, "")
	l.built(vm("a", "Standard_B1s", "d", "e"))
}

func TestWhatAMachineUsesStays(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.built(wired(vm("y", "Standard_B1s", "e"), "i"))
	l.refused(409, arm.CodeOperationNotAllowed)(l.delete(diskPath + "e"))
	l.refused(400, arm.CodeInUseNetworkInterface)(l.delete(nicPath + "i"))
	l.refused(400, arm.CodeInUseNetworkInterface)(l.send(wired(vm("z", "Standard_B1s"), "i")))
	l.built(vm("y", "Standard_B1s"))
	for _, path := range []string{diskPath + "e", nicPath + "i"} {
		l.must(l.delete(path))
		l.settle()
		l.gone(path)
	}
	l.must(l.delete(groupPath))
	l.settle()
	l.gone(vmPath + "y")
}

func TestAMachineTakesWhatItsSizeAllows(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.built(disk("1", 1), disk("2", 1), nic("j", "c"), nic("k", "c"))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("y", "Standard_B1s", "e", "1", "2")))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(wired(vm("y", "Standard_B1s"), "i", "j", "k")))
	l.refused(400, arm.CodeInvalidRequestContent)(l.send(vm("y", "Standard_B1s", "e", "E")))
	l.refused(400, arm.CodeInvalidRequestContent)(l.send(vm("y", "Standard_None")))
	l.refused(400, arm.CodeInvalidResourceReference)(l.send(vm("y", "Standard_B1s", "none")))
	l.built(wired(vm("y", "standard_b2S", "e", "1", "2"), "i", "j", "k"))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(wired(vm("y", "Standard_B1s", "e", "1", "2"), "i")))
}

// TestQuota counts a machine from the acceptance of its creation to the end of
// its deletion.
func TestQuota(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{
		Subscriptions: []string{arm.DefaultSubscription, "other"},
		Quotas:        map[string]int{"North": 20, "north/StandardESv5Family": 4},
	})
	elsewhere, abroad := "/subscriptions/other/resourceGroups/g", vm("s", "Standard_D16s_v5")
	abroad.r.Location = "south"
	l.built(group(), thing{elsewhere, group().r}, abroad)
	l.must(l.send(vm("a", "Standard_D8s_v5")))
	l.must(l.send(vm("b", "Standard_D4s_v5")))
	_, refusal := l.send(vm("c", "Standard_D16s_v5"))
	l.refused(409, arm.CodeOperationNotAllowed)("", refusal)
	for _, part := range []string{"total regional vCPUs", "Location: north", "limit: 20", "usage: 12", "required: 16", "new limit: 28"} {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("%q does not say %q", refusal.Message, part)
		}
	}
	l.gone(vmPath + "c")
	// Another subscription has a quota of its own.
	l.must(l.call(simcloud.Call{Method: "PUT", Path: elsewhere + "/providers/Microsoft.Compute/virtualMachines/c", Body: encode(t, vm("c", "Standard_D16s_v5").r)}))
	l.must(l.send(vm("e", "Standard_E4s_v5")))
	if _, refusal = l.send(vm("f", "Standard_E2s_v5")); refusal == nil || !strings.Contains(refusal.Message, "standardESv5Family vCPUs") {
		t.Errorf("the family's quota is not kept: %v", refusal)
	}
	l.must(l.send(vm("f", "Standard_B4ms"))) // 20 of 20
	l.settle()
	deletion := l.must(l.delete(vmPath + "a"))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("g", "Standard_B1s")))
	l.settle()
	l.outcome(deletion, arm.OperationSucceeded, "")
	l.must(l.send(vm("g", "Standard_D8s_v5")))
}

func TestAResizeKeepsItsLargerSizeUntilItEnds(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"north": 8, "north/standardDSv5Family": 8}})
	l.built(group(), vm("a", "Standard_D8s_v5"))
	l.must(l.send(vm("a", "Standard_E4s_v5")))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("b", "Standard_D2s_v5")))
	l.settle()
	l.built(vm("b", "Standard_D4s_v5"))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("a", "Standard_E8s_v5")))
	l.built(vm("a", "Standard_E2s_v5"), vm("a", "Standard_E4s_v5"))
}

func TestAFailedCreationCountsUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"north": 4}})
	l.built(group())
	id, err := arm.ParseID(vmPath + "a")
	if err != nil {
		t.Fatal(err)
	}
	l.cloud.FailNext(id, "AllocationFailed", "no capacity")
	l.must(l.send(vm("a", "Standard_D4s_v5")))
	l.settle()
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("b", "Standard_B1s")))
	l.built(vm("a", "Standard_D4s_v5")) // may be repaired
	l.must(l.delete(vmPath + "a"))
	l.settle()
	l.built(vm("b", "Standard_B1s"))
}
