// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

func TestWhatIsInUseStays(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	public := nic("i", "c")
	public.r.Properties.PublicIPAddress = arm.NewReference(pipPath + "p")
	l.built(public, guarded(subnet("a", "10.0.1.0/24"), "n"))
	l.refused(400, arm.CodeInUseSubnet)(l.delete(subnetPath + "c"))
	l.refused(400, arm.CodeInUseSubnet)(l.delete(netPath))
	l.refused(400, arm.CodeInUseSecurityGroup)(l.delete(nsgPath + "n"))
	l.refused(400, arm.CodeInUsePublicIP)(l.delete(pipPath + "p"))
	for _, path := range []string{subnetPath + "c", netPath, nsgPath + "n", pipPath + "p"} {
		l.state(path, arm.Succeeded)
	}
	// In order, everything goes.
	for _, path := range []string{nicPath + "i", subnetPath + "c", subnetPath + "a", nsgPath + "n", pipPath + "p", netPath, groupPath} {
		l.must(l.delete(path))
		l.settle()
		l.gone(path)
	}
}

func TestAnInterfaceBeingCreatedUsesItsSubnet(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.must(l.send(nic("j", "a")))
	l.busy(l.delete(subnetPath + "a"))
	l.busy(l.delete(netPath))
	l.settle()
	l.refused(400, arm.CodeInUseSubnet)(l.delete(subnetPath + "a"))
}

func TestNetworkDeleteTakesItsSubnets(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.must(l.delete(nicPath + "i"))
	l.settle()
	l.must(l.delete(netPath))
	l.busy(l.send(nic("j", "a")))
	l.busy(l.send(subnet("a", "10.0.1.0/24")))
	l.settle()
	l.gone(netPath)
	l.gone(subnetPath + "a")
	l.refused(404, arm.CodeParentResourceNotFound)(l.send(subnet("a", "10.0.1.0/24")))
	l.refused(400, arm.CodeInvalidResourceReference)(l.send(nic("j", "a")))
}

func TestGroupDeleteTakesItsContent(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	op := l.must(l.delete(groupPath))
	l.state(groupPath, arm.Deleting)
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.send(pip("q")))
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.send(subnet("a", "10.0.1.0/24")))
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.delete(nicPath + "i"))
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.send(group()))
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.delete(groupPath))
	l.settle()
	l.outcome(op, arm.OperationSucceeded, "")
	for _, path := range []string{groupPath, netPath, subnetPath + "a", nicPath + "i", nsgPath + "n/securityRules/r", pipPath + "p"} {
		l.gone(path)
	}
	l.refused(404, arm.CodeResourceGroupNotFound)(l.send(network()))
}

func TestGroupDeleteCancelsWhatIsInFlightInside(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	// The subnet takes longer than the deletion of the group.
	lost := l.must(l.send(subnet("d", "10.0.4.0/24")))
	deletion := l.must(l.delete(groupPath))
	l.settle()
	l.outcome(deletion, arm.OperationSucceeded, "")
	l.outcome(lost, arm.OperationCanceled, arm.CodeResourceGroupBeingDeleted)
	l.gone(subnetPath + "d")
	if n := l.cloud.InFlight(); n != 0 {
		t.Errorf("%d operations in flight", n)
	}
}

const outside = "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/h"

func TestGroupDeleteMindsItsNeighbours(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	neighbour := thing{outside + "/providers/Microsoft.Network/networkInterfaces/x", nic("x", "a").r}
	l.built(thing{outside, group().r})
	creation := l.must(l.send(neighbour))
	l.busy(l.delete(groupPath))
	l.settle()
	l.outcome(creation, arm.OperationSucceeded, "")
	l.refused(409, arm.CodeInUseSubnet)(l.delete(groupPath))
	l.must(l.delete(neighbour.path))
	l.settle()
	l.must(l.delete(groupPath))
	l.refused(409, arm.CodeResourceGroupBeingDeleted)(l.send(neighbour))
}

func TestMissingParents(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.refused(404, arm.CodeResourceGroupNotFound)(l.send(network()))
	l.refused(404, arm.CodeResourceGroupNotFound)(l.delete(netPath))
	l.must(l.send(group()))
	l.refused(404, arm.CodeResourceGroupNotFound)(l.send(network()))
	l.settle()
	l.refused(404, arm.CodeParentResourceNotFound)(l.send(subnet("a", "10.0.1.0/24")))
	l.refused(404, arm.CodeParentResourceNotFound)(l.send(rule("n", "r", 100)))
	l.must(l.send(network()))
	l.busy(l.send(subnet("a", "10.0.1.0/24")))
	l.refused(404, arm.CodeSubscriptionNotFound)(l.put("/subscriptions/other/resourceGroups/g", group().r))
}

func TestDeletingWhatIsNotThereIsNoOperation(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{})
	l.built(group())
	answer, refusal := l.cloud.Write(simcloud.Call{Method: "DELETE", Path: netPath})
	if refusal != nil || answer.HTTPStatus != 204 || answer.OperationID != "" {
		t.Errorf("got %+v, %v", answer, refusal)
	}
	if log := l.log(); len(log.NoOps) != 1 || len(log.Operations) != 1 {
		t.Errorf("log: %+v", log)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	for _, bad := range []string{"nonsense", netPath, subnetPath + "none", nsgPath + "n"} {
		th := nic("j", "a")
		th.r.Properties.Subnet = arm.NewReference(bad)
		l.refused(400, arm.CodeInvalidResourceReference)(l.send(th))
	}
	l.refused(400, arm.CodeInvalidResourceReference)(l.send(guarded(subnet("a", "10.0.1.0/24"), "none")))
	one, two := nic("j", "a"), nic("k", "a")
	one.r.Properties.PublicIPAddress = arm.NewReference(pipPath + "p")
	two.r.Properties.PublicIPAddress = arm.NewReference(pipPath + "P")
	l.built(one, one)
	l.refused(400, arm.CodePublicIPTaken)(l.send(two))
}

func TestChangeTokens(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	th := rule("n", "s", 101)
	body := encode(t, th.r)
	write := func(token string) (string, *arm.Error) {
		return l.call(simcloud.Call{Method: "PUT", Path: th.path, Body: body, IfMatch: token})
	}
	token := l.get(nsgPath + "n").Etag
	l.refused(428, arm.CodePreconditionRequired)(write(""))
	l.refused(412, arm.CodePreconditionFailed)(write("*"))
	l.must(write(token))
	if l.get(nsgPath+"n").Etag == token {
		t.Error("an accepted rule write must change the token at once")
	}
	l.refused(412, arm.CodePreconditionFailed)(write(token))
	l.busy(write(l.get(nsgPath + "n").Etag))
	l.settle()
	l.refused(412, arm.CodePreconditionFailed)(l.call(simcloud.Call{Method: "DELETE", Path: th.path, IfMatch: token}))
	token = l.get(nsgPath + "n").Etag
	l.built(nsg("n"))
	l.refused(412, arm.CodePreconditionFailed)(write(token))
	l.must(l.call(simcloud.Call{Method: "DELETE", Path: th.path, IfMatch: l.get(nsgPath + "n").Etag}))
}

func TestIfMatchOnOtherObjects(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	write := func(path, token string) (string, *arm.Error) {
		return l.call(simcloud.Call{Method: "PUT", Path: path, Body: encode(t, pip("p").r), IfMatch: token})
	}
	l.refused(412, arm.CodePreconditionFailed)(write(pipPath+"p", "W/\"0\""))
	l.refused(412, arm.CodePreconditionFailed)(write(pipPath+"q", "*"))
	l.must(write(pipPath+"p", l.get(pipPath+"p").Etag))
	l.settle()
	l.must(write(pipPath+"p", "*"))
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	for _, bad := range []string{"", "10.0.5.1/24", "10.0.5.0", "fd00::/64", "0.0.0.0/0"} {
		l.refused(400, arm.CodeInvalidAddressPrefix)(l.send(subnet("d", bad)))
		l.refused(400, arm.CodeInvalidAddressPrefix)(l.send(network(bad)))
	}
	l.refused(400, arm.CodeInvalidAddressPrefix)(l.send(network("10.0.0.0/16", "10.0.0.0/24")))
	l.refused(400, arm.CodeInvalidSubnet)(l.send(subnet("d", "10.1.0.0/24")))
	l.refused(400, arm.CodeInvalidSubnet)(l.send(subnet("d", "10.0.0.0/8")))
	l.refused(400, arm.CodeInvalidSubnet)(l.send(subnet("d", "10.0.4.0/30")))
	l.refused(400, arm.CodeSubnetRangesOverlap)(l.send(subnet("d", "10.0.1.128/25")))
	l.refused(400, arm.CodeSubnetRangesOverlap)(l.send(subnet("d", "10.0.0.0/16")))
	l.refused(400, arm.CodeInUsePrefix)(l.send(network("10.1.0.0/16")))
	l.refused(400, arm.CodeInUsePrefix)(l.send(subnet("c", "10.0.7.0/24")))
	l.must(l.send(subnet("a", "10.0.8.0/24")))
	l.settle()
	l.must(l.send(network("10.0.0.0/16", "10.1.0.0/16")))
	l.settle()
	l.must(l.send(subnet("d", "10.1.0.0/24")))
}

func TestASubnetRunsFull(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	l.built(subnet("tiny", "10.0.9.0/29"), nic("t1", "tiny"), nic("t2", "tiny"), nic("t3", "tiny"))
	for name, want := range map[string]string{"t1": "10.0.9.4", "t2": "10.0.9.5", "t3": "10.0.9.6"} {
		if got := l.get(nicPath + name).Properties.PrivateIPAddress; got != want {
			t.Errorf("%s has %s; want %s", name, got, want)
		}
	}
	l.refused(400, arm.CodeSubnetIsFull)(l.send(nic("t4", "tiny")))
	l.built(nic("t2", "a"), nic("t4", "tiny"))
	if got := l.get(nicPath + "t4").Properties.PrivateIPAddress; got != "10.0.9.5" {
		t.Errorf("the freed address is not used: %s", got)
	}
}

func TestPublicAddressesStay(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	first := l.get(pipPath + "p")
	l.built(pip("q"), pip("p"))
	if again := l.get(pipPath + "p"); again.Properties.IPAddress != first.Properties.IPAddress || first.Properties.IPAddress == "" {
		t.Errorf("had %q, has %q", first.Properties.IPAddress, again.Properties.IPAddress)
	}
	if other := l.get(pipPath + "q"); other.Properties.IPAddress == first.Properties.IPAddress {
		t.Error("two objects have one address")
	}
	if first.SKU == nil || first.SKU.Name != "Standard" {
		t.Errorf("sku %+v; want the default", first.SKU)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	for path, bodies := range map[string][]string{
		groupPath:                       {``, `null{}`, `{}`, `{"location":"n","properties":{"addressPrefix":"x"}}`, `{"location":"n","nonsense":1}`, `{"location":"n"} {}`, `[]`},
		netPath:                         {`{"location":"n","properties":{}}`, `{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`, `{"location":"n","properties":{"addressSpace":{"addressPrefixes":[]}}}`},
		subnetPath + "a":                {`{"location":"n","properties":{"addressPrefix":"10.0.1.0/24"}}`, `{"properties":{"addressPrefix":"10.0.1.0/24","priority":1}}`},
		nicPath + "j":                   {`{"location":"n","properties":{}}`},
		pipPath + "q":                   {`{"location":"n","sku":{"name":"Gold"}}`},
		nsgPath + "n/securityRules/bad": {`{"properties":{"priority":99,"direction":"Inbound","access":"Allow","protocol":"*"}}`, `{"properties":{"priority":100,"direction":"Up","access":"Allow","protocol":"*"}}`, `{"properties":{"priority":100,"direction":"Inbound","access":"May","protocol":"*"}}`, `{"properties":{"priority":100,"direction":"Inbound","access":"Deny","protocol":"Ipx"}}`},
	} {
		for _, body := range bodies {
			l.refused(400, arm.CodeInvalidRequestContent)(l.call(simcloud.Call{Method: "PUT", Path: path, Body: []byte(body)}))
		}
	}
	l.refused(400, arm.CodeRuleConflict)(l.call(simcloud.Call{
		Method: "PUT", Path: nsgPath + "n/securityRules/s", Body: encode(t, rule("n", "s", 100).r), IfMatch: l.get(nsgPath + "n").Etag,
	}))
	moved := pip("p")
	moved.r.Location = "south"
	l.refused(409, arm.CodeInvalidLocation)(l.send(moved))
	l.refused(400, arm.CodeInvalidResourceID)(l.put("/subscriptions/x", group().r))
	l.refused(405, arm.CodeMethodNotAllowed)(l.call(simcloud.Call{Method: "PATCH", Path: groupPath}))
}

func TestWhatWasReadCanBeSentBack(t *testing.T) {
	t.Parallel()
	l := town(t, simcloud.Config{})
	for _, path := range []string{groupPath, netPath, subnetPath + "a", nicPath + "i", pipPath + "p", nsgPath + "n"} {
		l.built(thing{path, l.get(path)})
	}
}
