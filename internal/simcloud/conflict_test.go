// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// town is a lab with one network, three subnets, two security groups with a
// rule, a public address and an interface in subnet c.
func town(t *testing.T, cfg simcloud.Config) *lab {
	t.Helper()
	l := newLab(t, cfg)
	l.built(group(), network(), subnet("a", "10.0.1.0/24"), subnet("b", "10.0.2.0/24"), subnet("c", "10.0.3.0/24"),
		nsg("n"), rule("n", "r", 100), nsg("m"), pip("p"), nic("i", "c"),
		disk("d", 2), disk("e", 1), vm("x", "Standard_B1s", "d"), policy("o", "s"), attachment("t"), function("f"), permission("f", "r"))
	return l
}

// TestWhatExcludesWhat walks the table of conflicts: the first write is in
// flight when the second arrives.
func TestWhatExcludesWhat(t *testing.T) {
	t.Parallel()
	write := func(th thing) func(*lab) (string, *arm.Error) {
		return func(l *lab) (string, *arm.Error) {
			return l.call(simcloud.Call{Method: "PUT", Path: th.path, Body: encode(l.t, th.r), IfMatch: l.ruleToken(th.path)})
		}
	}
	remove := func(path string) func(*lab) (string, *arm.Error) {
		return func(l *lab) (string, *arm.Error) {
			return l.call(simcloud.Call{Method: "DELETE", Path: path, IfMatch: l.ruleToken(path)})
		}
	}
	associate := write(guarded(subnet("a", "10.0.1.0/24"), "n"))
	guardedNIC := nic("j", "a")
	guardedNIC.r.Properties.NetworkSecurityGroup = arm.NewReference(nsgPath + "n")
	publicNIC := nic("j", "a")
	publicNIC.r.Properties.PublicIPAddress = arm.NewReference(pipPath + "p")
	other := thing{groupPath + "/providers/Microsoft.Network/virtualNetworks/w", network().r}
	tests := []struct {
		name          string
		first, second func(*lab) (string, *arm.Error)
		busy          bool
	}{
		{"two subnets of a network", write(subnet("a", "10.0.1.0/24")), write(subnet("b", "10.0.2.0/24")), true},
		{"a new subnet and an old one", write(subnet("d", "10.0.4.0/24")), write(subnet("b", "10.0.2.0/24")), true},
		{"subnet write and subnet delete", write(subnet("a", "10.0.1.0/24")), remove(subnetPath + "b"), true},
		{"two subnet deletes", remove(subnetPath + "a"), remove(subnetPath + "b"), true},
		{"network then subnet", write(network()), write(subnet("a", "10.0.1.0/24")), true},
		{"subnet then network", write(subnet("a", "10.0.1.0/24")), write(network()), true},
		{"network twice", write(network()), write(network()), true},
		{"subnet then network delete", remove(subnetPath + "a"), remove(netPath), true},
		{"network and another network", write(network()), write(other), false},
		{"subnet and another network", write(subnet("a", "10.0.1.0/24")), write(other), false},
		{"association and sister subnet", associate, write(subnet("b", "10.0.2.0/24")), true},
		{"association and network", associate, write(network()), true},
		{"association and its NSG", associate, write(nsg("n")), true},
		{"NSG and its association", write(nsg("n")), associate, true},
		{"rule and association of its NSG", write(rule("n", "r", 100)), associate, true},
		{"association and rule of its NSG", associate, write(rule("n", "s", 101)), true},
		{"association and another NSG", associate, write(nsg("m")), false},
		{"subnet without association and NSG", write(subnet("a", "10.0.1.0/24")), write(nsg("n")), false},
		{"two rules of an NSG", write(rule("n", "r", 100)), write(rule("n", "s", 101)), true},
		{"rule delete and rule", remove(nsgPath + "n/securityRules/r"), write(rule("n", "s", 101)), true},
		{"NSG and its rule", write(nsg("n")), write(rule("n", "s", 101)), true},
		{"rule and its NSG", write(rule("n", "s", 101)), write(nsg("n")), true},
		{"rules of two NSGs", write(rule("n", "s", 101)), write(rule("m", "s", 101)), false},
		{"NSG and another NSG", write(nsg("n")), write(nsg("m")), false},
		{"interface and its subnet", write(nic("j", "a")), write(subnet("a", "10.0.1.0/24")), true},
		{"subnet and an interface in it", write(subnet("a", "10.0.1.0/24")), write(nic("j", "a")), true},
		{"subnet and delete of an interface in it", write(subnet("c", "10.0.3.0/24")), remove(nicPath + "i"), true},
		{"subnet and an interface in its sister", write(subnet("a", "10.0.1.0/24")), write(nic("j", "b")), false},
		{"two interfaces of a subnet", write(nic("j", "a")), write(nic("k", "a")), false},
		{"an interface twice", write(nic("j", "a")), write(nic("j", "a")), true},
		{"interface and its network", write(nic("j", "a")), write(network()), false},
		{"network and an interface in it", write(network()), write(nic("j", "a")), false},
		{"interface and its NSG", write(guardedNIC), write(nsg("n")), true},
		{"NSG and an interface with it", write(nsg("n")), write(guardedNIC), true},
		{"interface and its address", write(publicNIC), write(pip("p")), true},
		{"address and an interface with it", write(pip("p")), write(publicNIC), true},
		{"address and an interface without it", write(pip("p")), write(nic("j", "a")), false},
		{"machine and the disk it gets", write(vm("y", "Standard_B1s", "e")), write(disk("e", 1)), true},
		{"disk and a machine that gets it", write(disk("e", 1)), write(vm("y", "Standard_B1s", "e")), true},
		{"machine and a disk it has", write(vm("x", "Standard_B2s", "d")), write(disk("d", 2)), true},
		{"two machines that get one shared disk", write(vm("y", "Standard_B1s", "d")), write(vm("x", "Standard_B1s", "d")), true},
		{"machine that loses a disk and the disk", write(vm("x", "Standard_B1s")), write(disk("d", 2)), true},
		{"machine delete and its disk", remove(vmPath + "x"), write(disk("d", 2)), true},
		{"machine and another disk", write(vm("x", "Standard_B1s", "d")), write(disk("e", 1)), false},
		{"two machines", write(vm("y", "Standard_B1s", "e")), write(vm("x", "Standard_B1s", "d")), false},
		{"a machine twice", write(vm("x", "Standard_B1s", "d")), write(vm("x", "Standard_B2s", "d")), true},
		{"machine and its interface", write(wired(vm("y", "Standard_B1s"), "i")), write(nic("i", "c")), true},
		{"interface and its machine", write(nic("i", "c")), write(wired(vm("y", "Standard_B1s"), "i")), true},
		{"machine and the subnet of its interface", write(wired(vm("y", "Standard_B1s"), "i")), write(subnet("c", "10.0.3.0/24")), false},
		{"a policy document twice", write(policy("o", "a")), write(policy("o", "b")), true},
		{"two policy documents", write(policy("o", "a")), write(policy("p", "b")), false},
		{"attachment and what is not of the account", write(attachment("u")), write(pip("q")), false},
		{"permissions of two functions", write(permission("f", "s")), write(function("g")), false},
		{"group and what is in it", write(group()), write(pip("q")), false},
		{"group twice", write(group()), write(group()), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := town(t, simcloud.Config{})
			first := l.must(test.first(l))
			second, refusal := test.second(l)
			if !test.busy {
				l.must(second, refusal)
				l.settle()
				l.outcome(first, arm.OperationSucceeded, "")
				l.outcome(second, arm.OperationSucceeded, "")
				return
			}
			l.busy(second, refusal)
			if refusal != nil && refusal.Blocking != first {
				t.Errorf("blocked by %q; want %q", refusal.Blocking, first)
			}
			l.settle()
			l.outcome(first, arm.OperationSucceeded, "")
			// What was refused is possible once the first has ended, or is not needed.
			if _, refusal := test.second(l); refusal != nil && refusal.HTTPStatus == 409 {
				t.Errorf("still refused when nothing is in flight: %v", refusal)
			}
		})
	}
}

func TestTheRefusalNamesTheOperationInFlight(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	op := l.must(l.send(subnet("a", "10.0.1.0/24")))
	_, refusal := l.send(subnet("b", "10.0.2.0/24"))
	for _, part := range []string{op, subnetPath + "a", "subnets/write"} {
		if !strings.Contains(refusal.Message, part) {
			t.Errorf("%q does not name %q", refusal.Message, part)
		}
	}
}

func TestARefusedCallChangesNothing(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.must(l.send(subnet("a", "10.0.1.0/24")))
	before := l.get(subnetPath + "b")
	l.busy(l.send(guarded(subnet("b", "10.0.9.0/24"), "n")))
	l.refused(400, arm.CodeInUseSubnet)(func() (string, *arm.Error) { l.settle(); return l.delete(subnetPath + "c") }())
	if diff := cmp.Diff(before, l.get(subnetPath+"b")); diff != "" {
		t.Error(diff)
	}
	l.state(subnetPath+"c", arm.Succeeded)
	log := l.log()
	if len(log.Refused) != 2 || log.RefusedWith("InUseSubnetCannotBeDeleted") != 1 {
		t.Errorf("refused calls in the log: %+v", log.Refused)
	}
}

func TestNetworkWriteSupersedesAcceptedSubnetCreation(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{Supersede: true})
	loser := l.must(l.send(subnet("d", "10.0.4.0/24")))
	l.state(subnetPath+"d", arm.Creating)
	winner := l.must(l.send(network()))
	l.settle()
	l.outcome(loser, arm.OperationCanceled, arm.CodeSuperseded)
	l.outcome(winner, arm.OperationSucceeded, "")
	l.gone(subnetPath + "d")
	log := l.log()
	last := log.Operations[len(log.Operations)-2]
	if last.ID != loser || last.Result != activity.Canceled || last.SupersededBy != winner || len(log.Refused) != 0 {
		t.Errorf("log says %+v, refused %+v", last, log.Refused)
	}
}

func TestNetworkWriteSupersedesAcceptedSubnetUpdateAndDelete(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{Supersede: true})
	loser := l.must(l.send(guarded(subnet("a", "10.0.1.0/24"), "n")))
	l.must(l.send(network()))
	l.outcome(loser, arm.OperationCanceled, arm.CodeSuperseded)
	if got := l.get(subnetPath + "a"); got.Properties.NetworkSecurityGroup != nil || got.Properties.ProvisioningState != arm.Canceled {
		t.Errorf("the update is not undone: %+v", got)
	}
	l.settle()
	loser = l.must(l.delete(subnetPath + "a"))
	l.must(l.send(network()))
	l.settle()
	l.outcome(loser, arm.OperationCanceled, arm.CodeSuperseded)
	l.state(subnetPath+"a", arm.Canceled)
	l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.settle()
	l.state(subnetPath+"a", arm.Succeeded)
}

func TestOnlyNetworkPutsSupersede(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{Supersede: true})
	first := l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.busy(l.send(subnet("b", "10.0.2.0/24")))
	l.busy(l.delete(netPath))
	l.settle()
	l.outcome(first, arm.OperationSucceeded, "")
	l.must(l.send(network()))
	l.busy(l.send(network()))
	l.busy(l.send(subnet("b", "10.0.2.0/24")))
	l.cloud.SetSupersede(false)
	l.settle()
	l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.busy(l.send(network()))
}

func TestARefusedNetworkWriteSupersedesNothing(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{Supersede: true})
	op := l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.refused(400, arm.CodeInUsePrefix)(l.send(network("10.9.0.0/16")))
	l.settle()
	l.outcome(op, arm.OperationSucceeded, "")
}

func TestASupersededCreationDoesNotBindTheAddressSpace(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Supersede: true})
	l.built(group(), network("10.0.0.0/16", "10.1.0.0/16"))
	l.must(l.send(subnet("a", "10.1.1.0/24")))
	l.must(l.send(network("10.0.0.0/16")))
	l.gone(subnetPath + "a")
}

// tickingClock moves on by a little whenever it is read, as real time does.
type tickingClock struct{ *simcloud.VirtualClock }

func (c tickingClock) Now() time.Time {
	c.Advance(time.Microsecond)
	return c.VirtualClock.Now()
}

func TestALoserEndsWhenItsWinnerBegins(t *testing.T) {
	t.Parallel()
	clock := simcloud.NewVirtualClock(epoch)
	cloud, err := simcloud.New(simcloud.Config{Supersede: true, Clock: tickingClock{clock}})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t, clock, cloud}
	l.built(group(), network())
	l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.must(l.send(network()))
	l.settle()
	l.checkAlone(l.log().Operations)
}

// deafClock is a clock whose timers cannot be stopped, as when they are already
// on their way.
type deafClock struct{ *simcloud.VirtualClock }

func (c deafClock) AfterFunc(d time.Duration, f func()) func() {
	c.VirtualClock.AfterFunc(d, f)
	return func() {}
}

func TestATimerThatComesTooLateEndsNothing(t *testing.T) {
	t.Parallel()
	clock := simcloud.NewVirtualClock(epoch)
	cloud, err := simcloud.New(simcloud.Config{Supersede: true, Clock: deafClock{clock}})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t, clock, cloud}
	l.built(group(), network())
	loser := l.must(l.send(subnet("a", "10.0.1.0/24")))
	l.must(l.send(network()))
	l.settle()
	l.outcome(loser, arm.OperationCanceled, arm.CodeSuperseded)
	l.gone(subnetPath + "a")
	l.log()
	l.must(l.send(network()))
	l.cloud.Reset()
	l.settle()
	if n := len(l.cloud.Events()); n != 0 {
		t.Errorf("%d events after a reset", n)
	}
}
