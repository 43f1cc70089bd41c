// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// TestRandomTraffic drives the cloud with random calls in virtual time and
// judges it from outside: from its log and from what can be read.
func TestRandomTraffic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newLab(t, simcloud.Config{Supersede: rapid.Bool().Draw(t, "supersede"), Quotas: map[string]int{"north": 6, "north/standardBSFamily": 4}, Seed: rapid.Uint64Range(0, 3).Draw(t, "seed")})
		l.built(group(), network(), subnet("t", "10.0.8.0/29"), disk("d", 2), function("f"))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "wait") {
				l.clock.Advance(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
			} else {
				l.random(t)
			}
			l.checkReferences()
			l.checkCapacity()
			l.checkAddresses()
		}
		l.settle()
		l.checkReferences()
		log := l.log()
		l.checkLives(log.Operations)
		l.checkAlone(log.Operations)
		for _, o := range log.Operations {
			if !o.Done() {
				t.Errorf("%s of %s never ended", o.Name, o.ObjectID)
			}
		}
		if n := l.cloud.InFlight(); n != 0 {
			t.Errorf("%d operations in flight at the end", n)
		}
	})
}

// random sends one random call; being refused is fine.
func (l *lab) random(t *rapid.T) {
	things := []thing{
		group(), network(), network("10.0.0.0/16", "10.1.0.0/16"),
		subnet("a", "10.0.1.0/24"), subnet("a", "10.0.4.0/24"), subnet("b", "10.0.2.0/24"), guarded(subnet("b", "10.0.2.0/24"), "n"), subnet("c", "10.0.1.0/25"),
		nic("i", "a"), nic("i", "b"), nic("j", "a"), nic("i", "t"), nic("j", "t"), nic("k", "t"), nic("l", "t"), nic("l", "b"), subnet("t", "10.0.8.0/29"),
		quota("cores", 3), quota("cores", 6), pip("p"), nsg("n"), rule("n", "r", 100), rule("n", "s", 100), rule("n", "s", 101),
		disk("d", 2), disk("d", 1), disk("e", 1), vm("x", "Standard_B2s", "d"), vm("x", "Standard_D4s_v5"), vm("y", "Standard_B2s", "d"),
		vm("y", "Standard_B4ms", "e"), wired(vm("z", "Standard_B1s", "d", "e"), "i"), policy("o", "a"), attachment("t"), attachment("u"),
		function("f"), permission("f", "r"), permission("f", "s"),
	}
	th := rapid.SampledFrom(things).Draw(t, "thing")
	call := simcloud.Call{Method: "PUT", Path: th.path, Body: encode(l.t, th.r)}
	if rapid.IntRange(0, 2).Draw(t, "method") == 0 {
		call.Method, call.Body = "DELETE", nil
	}
	if _, refusal := l.cloud.Read(simcloud.Call{Path: nsgPath + "n"}); refusal == nil || !strings.Contains(th.path, "/securityRules/") {
		call.IfMatch = l.ruleToken(th.path)
	}
	if _, refusal := l.call(call); refusal != nil && refusal.HTTPStatus >= 500 {
		l.t.Errorf("%s %s: %v", call.Method, call.Path, refusal)
	}
}

// checkReferences wants every object to have its parent, and every reference a
// target.
func (l *lab) checkReferences() {
	l.t.Helper()
	there := make(map[string]bool)
	var all []arm.Resource
	for _, path := range []string{
		"/subscriptions/" + arm.DefaultSubscription + "/resourceGroups", groupPath + "/providers/Microsoft.Network/virtualNetworks", netPath + "/subnets",
		strings.TrimSuffix(diskPath, "/"), strings.TrimSuffix(vmPath, "/"), strings.TrimSuffix(functionPath, "/"), functionPath + "f/permissions",
		strings.TrimSuffix(nicPath, "/"), strings.TrimSuffix(pipPath, "/"), strings.TrimSuffix(nsgPath, "/"), nsgPath + "n/securityRules",
	} {
		list, refusal := l.cloud.List(simcloud.Call{Path: path})
		if refusal != nil {
			continue // its parent is not there
		}
		for _, r := range list.Value {
			there[strings.ToLower(r.ID)] = true
			all = append(all, r)
		}
	}
	for _, r := range all {
		p := r.Properties
		refs := []*arm.Reference{p.Subnet, p.NetworkSecurityGroup, p.PublicIPAddress}
		for _, list := range [][]arm.Reference{p.DataDisks, p.NetworkInterfaces} {
			for _, ref := range list {
				refs = append(refs, &ref)
			}
		}
		for _, ref := range refs {
			if id := arm.RefID(ref); id != "" && !there[strings.ToLower(id)] {
				l.t.Errorf("%s refers to %s, which is not there", r.ID, id)
			}
		}
	}
}

// checkCapacity wants no more processors than the quotas allow and no disk on
// more machines than it may be shared by.
func (l *lab) checkCapacity() {
	l.t.Helper()
	machines, refusal := l.cloud.List(simcloud.Call{Path: strings.TrimSuffix(vmPath, "/")})
	if refusal != nil {
		return // the group is not there
	}
	used, onDisk := make(map[string]int), make(map[string]int)
	for _, m := range machines.Value {
		size, _ := arm.SizeByName(m.Properties.VMSize)
		used[""] += size.VCPUs
		used[size.Family] += size.VCPUs
		for _, d := range m.Properties.DataDisks {
			onDisk[d.ID]++
		}
	}
	if used[""] > 6 || used["standardBSFamily"] > 4 {
		l.t.Errorf("processors in use: %v", used)
	}
	for id, n := range onDisk {
		if shares := l.get(id).Properties.MaxShares; n > shares {
			l.t.Errorf("%s is on %d machines; it has %d shares", id, n, shares)
		}
	}
}

// checkAddresses wants every address to be that of one interface, and the small
// subnet to give out no more than it has.
func (l *lab) checkAddresses() {
	l.t.Helper()
	nics, refusal := l.cloud.List(simcloud.Call{Path: strings.TrimSuffix(nicPath, "/")})
	if refusal != nil {
		return // the group is not there
	}
	owners, small := make(map[string]string), 0
	for _, n := range nics.Value {
		p := n.Properties
		if other, twice := owners[p.PrivateIPAddress]; twice {
			l.t.Errorf("%s and %s have the address %s", other, n.ID, p.PrivateIPAddress)
		}
		owners[p.PrivateIPAddress] = n.ID
		if strings.HasSuffix(p.Subnet.ID, "/t") {
			small++
		}
	}
	r, refusal := l.cloud.Read(simcloud.Call{Path: subnetPath + "t"})
	if refusal != nil {
		return // it is not there
	}
	if used := *r.Properties.UsedAddresses; used < small || used > 3 {
		l.t.Errorf("%d addresses used by %d interfaces, of 3", used, small)
	}
}

// checkLives wants lives of an object one after another: each begins with a
// creation and is over when the next one begins.
func (l *lab) checkLives(ops []activity.Operation) {
	l.t.Helper()
	last := make(map[string]activity.Operation)
	names := make(map[string]bool)
	for _, o := range ops {
		before := last[o.ObjectID]
		switch {
		case o.Incarnation == before.Incarnation && o.UID == before.UID:
		case o.Incarnation == before.Incarnation+1 && o.Creates && !names[o.UID]:
		case strings.HasPrefix(o.ObjectID, quotaPath) && before.UID == "": // is there from the start
		default:
			l.t.Errorf("%s of %s meets the life %d %s after %d %s", o.Name, o.ObjectID, o.Incarnation, o.UID, before.Incarnation, before.UID)
		}
		last[o.ObjectID], names[o.UID] = o, true
	}
}

// scope is what an operation must have to itself: the network with its subnets,
// the security group with its rules, or the object.
func scope(o activity.Operation) string {
	s, _, _ := strings.Cut(o.ObjectID, "/subnets/")
	s, _, _ = strings.Cut(s, "/securityRules/")
	s, _, _ = strings.Cut(s, "/permissions/")
	s, _, _ = strings.Cut(s, "/attachments/")
	return s
}

// checkAlone wants no two operations of one scope in flight at one moment.
func (l *lab) checkAlone(ops []activity.Operation) {
	l.t.Helper()
	for i, a := range ops {
		for _, b := range slices.Concat(ops[:i], ops[i+1:]) {
			if scope(a) == scope(b) && a.Overlaps(b) {
				l.t.Errorf("%s of %s and %s of %s were in flight together", a.Name, a.ObjectID, b.Name, b.ObjectID)
			}
		}
	}
}
