// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const quotaPath = "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Compute/locations/north/quotas/"

// quota is a quota with a limit.
func quota(name string, limit int) thing {
	return thing{quotaPath + name, arm.Resource{Properties: arm.Properties{Limit: &limit}}}
}

// level checks limit and use of a quota.
func (l *lab) level(name string, limit, used int) {
	l.t.Helper()
	p := l.get(quotaPath + name).Properties
	if p.Limit == nil || p.CurrentValue == nil || *p.Limit != limit || *p.CurrentValue != used {
		l.t.Errorf("the quota %s is %+v; want %d of %d", name, p, used, limit)
	}
}

func TestAQuotaIsRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"North": 20, "north/STANDARDBSFAMILY": 4}})
	l.level("cores", 20, 0)
	l.built(group(), vm("a", "Standard_B2s"))
	l.must(l.send(vm("b", "Standard_D2s_v5")))
	l.level("cores", 20, 4) // from acceptance
	l.level("Cores-StandardBSFamily", 4, 2)
	l.settle()
	l.must(l.delete(vmPath + "b"))
	l.level("cores", 20, 4) // to the end of the deletion
	l.settle()
	l.level("cores", 20, 2)
	l.gone(quotaPath + "cores-standardESv5Family")
	l.gone("/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Compute/locations/south/quotas/cores")
	list, refusal := l.cloud.List(simcloud.Call{Path: "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Compute/locations/NORTH/quotas"})
	if refusal != nil || len(list.Value) != 2 || list.Value[1].Name != "cores-standardBSFamily" || *list.Value[0].Properties.CurrentValue != 2 {
		t.Errorf("got %+v, %v", list, refusal)
	}
}

func TestALimitIsRequested(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"north": 2}})
	l.built(group(), vm("a", "Standard_B2s"))
	op := l.must(l.send(quota("cores", 4)))
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("b", "Standard_B2s"))) // not granted yet
	l.busy(l.send(quota("cores", 5)))
	l.settle()
	l.outcome(op, arm.OperationSucceeded, "")
	l.built(vm("b", "Standard_B2s"), quota("cores", 1)) // below its use
	l.level("cores", 1, 4)
	l.refused(409, arm.CodeOperationNotAllowed)(l.send(vm("c", "Standard_B1s")))
	l.built(vm("a", "Standard_B2s")) // what is there may be written
}

func TestWhatAQuotaDoesNotTake(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"north": 2}})
	l.refused(405, arm.CodeMethodNotAllowed)(l.delete(quotaPath + "cores"))
	l.refused(405, arm.CodeMethodNotAllowed)(l.delete(quotaPath + "cores-standardBSFamily"))
	l.refused(404, arm.CodeResourceNotFound)(l.send(quota("cores-standardBSFamily", 2)))
	l.refused(400, arm.CodeInvalidRequestContent)(l.send(quota("cores", -1)))
	l.refused(400, arm.CodeInvalidRequestContent)(l.send(thing{quotaPath + "cores", arm.Resource{}}))
	l.built(thing{quotaPath + "cores", l.get(quotaPath + "cores")}) // what was read may be sent back
	l.level("cores", 2, 0)
}

func TestAResetKeepsQuotas(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Quotas: map[string]int{"north": 2}})
	l.built(quota("cores", 9))
	for _, key := range []string{"", "north/none", "no rth"} {
		if err := l.cloud.SetQuota(key, 1); err == nil {
			t.Errorf("a quota of %q is set", key)
		}
	}
	if err := l.cloud.SetQuota("north/standardBSFamily", 3); err != nil {
		t.Fatal(err)
	}
	l.cloud.Reset()
	l.level("cores", 2, 0)
	l.level("cores-standardBSFamily", 3, 0)
}

func TestUsedAddressesOfASubnet(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), network(), subnet("a", "10.0.1.0/29"), subnet("b", "10.0.2.0/29"))
	used := func(name string, want int) {
		t.Helper()
		if got := l.get(subnetPath + name).Properties.UsedAddresses; got == nil || *got != want {
			t.Errorf("subnet %s has %v used addresses; want %d", name, got, want)
		}
	}
	used("a", 0)
	l.must(l.send(nic("1", "a")))
	used("a", 1)
	l.must(l.send(nic("2", "a")))
	l.must(l.send(nic("3", "a")))
	l.refused(400, arm.CodeSubnetIsFull)(l.send(nic("4", "a"))) // 8 - 5
	l.settle()
	l.must(l.send(nic("1", "b"))) // has an address in both until it is there
	used("a", 3)
	used("b", 1)
	l.refused(400, arm.CodeSubnetIsFull)(l.send(nic("4", "a")))
	l.settle()
	used("a", 2)
	l.must(l.send(nic("4", "a")))
	l.settle()
	l.must(l.delete(nicPath + "2"))
	l.refused(400, arm.CodeSubnetIsFull)(l.send(nic("5", "a")))
	l.settle()
	used("a", 2)
	l.built(subnet("b", "10.0.2.0/29"), thing{subnetPath + "b", l.get(subnetPath + "b")})
}

func TestMachinesOfADisk(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group(), disk("d", 2), vm("b", "Standard_B1s", "d"))
	attached := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range l.get(diskPath + "d").Properties.AttachedMachines {
			got = append(got, r.ID)
		}
		if !slices.Equal(want, got) {
			t.Errorf("the disk is attached to %q; want %q", got, want)
		}
	}
	attached(vmPath + "b")
	l.must(l.send(vm("a", "Standard_B1s", "d")))
	attached(vmPath+"a", vmPath+"b")
	l.settle()
	l.must(l.delete(vmPath + "a"))
	attached(vmPath+"a", vmPath+"b")
	l.settle()
	attached(vmPath + "b")
	l.built(thing{diskPath + "d", l.get(diskPath + "d")}, vm("b", "Standard_B1s"))
	attached()
}

func TestTheImageOfAMachineStays(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	imaged := func(image string) thing {
		th := vm("m", "Standard_B1s")
		th.r.Properties.Image = image
		return th
	}
	l.built(group(), imaged("one"), imaged("one"))
	l.refused(409, arm.CodePropertyChangeNotAllowed)(l.send(imaged("two")))
	l.must(l.delete(vmPath + "m"))
	l.settle()
	l.built(imaged("two"))
}
