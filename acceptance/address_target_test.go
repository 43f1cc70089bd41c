// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func publicIP(name string) string {
	return `resource "simcloud_public_ip" "` + name + `" {
  name                = "` + name + `"
  resource_group_name = "shared"
  location            = "westeurope"
}
`
}

// TestC42TargetsTakeWhatTheyReferTo: a change that is targeted is judged with
// what it refers to, though nothing of that is in the plan: while another session
// removes the subnet, an interface in it is refused, and the report says what is
// in the way and whose. What does not need the subnet is applied meanwhile: by
// naming it, and in OpenTofu also by leaving the other out (terraform issues
// 13999, 2253 and 36239).
func TestC42TargetsTakeWhatTheyReferTo(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["subnet.delete"] = 25 * time.Second
	b := newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	alice := b.workspace("alice", subnet("net", "s", 1)+subnet("net", "t", 2, after("simcloud_subnet.s")))
	b.succeeded(b.applyAll(plain, alice)...)
	if err := alice.Configure(subnet("net", "t", 2)); err != nil {
		t.Fatal(err)
	}
	in := func(name, subnet string) string { return inSubnet(name, `"`+subnetID("net", subnet)+`"`) }
	bob := b.workspace("bob", publicIP("ip")+in("nic", "s")+in("other", "t"))
	remove := b.start(wovenFor("shrink the network"), alice, "apply", "-auto-approve", "-no-color")
	b.awaitOf(remove, "the subnet is being deleted", func(log activity.Log) bool { return len(ofType(log, "subnets")) > 2 })

	apply := func(code int, more ...string) *lab.Run {
		return b.tfweaver(bob, code, append([]string{"apply", "-auto-approve", "-weaver-wait=0s"}, more...)...)
	}
	const target = "-target=simcloud_network_interface.nic"
	says(t, "the refusal", apply(1, "-no-color", target).Said(), `simcloud_network_interface\.nic`, "subnet s", "alice", "shrink the network")
	// What is wanted is something in the subnet, such as its life.
	lines := conflicts(t, apply(1, "-json", target))
	if !regexp.MustCompile(`(?i)"address":"simcloud_network_interface\.nic".*subnets/s".*"mode_wanted":"IS"`).MatchString(lines) {
		t.Errorf("the report does not show what is needed of the subnet: %s", lines)
	}
	rest := "-target=simcloud_public_ip.ip"
	if b.Lab.CLI.Product == "OpenTofu" {
		rest = "-exclude=simcloud_network_interface.nic"
	}
	apply(0, "-no-color", "-target=simcloud_network_interface.other")
	apply(0, "-no-color", rest)
	log := b.log()
	if remove.Exited() {
		t.Fatal("the subnet was gone before the others were done: the test shows nothing")
	}
	if n, m := len(ofType(log, "publicIPAddresses")), len(ofType(log, "networkInterfaces")); n != 1 || m != 1 {
		t.Errorf("%d addresses and %d interfaces were made while the subnet was removed, want 1 of each", n, m)
	}
	b.wait(remove)
	b.succeeded(remove)
	b.clean()
	b.lockedLife("simcloud_network_interface.other", "/subnets/t/~life")
}

// lockedLife fails the test unless a change took a shared lock on a node that ends
// so, by the coordinator's journal.
func (b *bench) lockedLife(address, suffix string) {
	b.t.Helper()
	all, err := b.Journal(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range all.Records {
		for _, event := range r.Events {
			e, ok := event.(admission.TxSubmitted)
			if ok && e.Tx.Address == address && slices.ContainsFunc(e.Tx.Locks, func(w lock.Want) bool {
				return strings.HasSuffix(string(w.Node), suffix) && w.Mode == mode.S
			}) {
				return
			}
		}
	}
	b.t.Errorf("%s took no shared lock on a node that ends in %s", address, suffix)
}

// TestC42PlainTerraformTargetsPastIt is the control of TestC42: the interface is
// put into the subnet that goes, or meets the cloud's refusal.
func TestC42PlainTerraformTargetsPastIt(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["subnet.delete"] = 6 * time.Second
	b := newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	alice := b.workspace("alice", subnet("net", "s", 1))
	b.succeeded(b.applyAll(plain, alice)...)
	bob := b.workspace("bob", inSubnet("nic", `"`+subnetID("net", "s")+`"`))
	remove := b.start(plain, alice, "destroy", "-auto-approve", "-no-color")
	b.awaitOf(remove, "the subnet is being deleted", func(log activity.Log) bool { return len(ofType(log, "subnets")) > 1 })
	run := b.start(plain, bob, "apply", "-auto-approve", "-no-color", "-target=simcloud_network_interface.nic")
	b.wait(run, remove)
	log := b.log()
	if len(ofType(log, "networkInterfaces")) == 0 && len(log.Refused) == 0 {
		t.Error("nothing was sent to the cloud for the interface: the scenario provokes nothing")
	}
}
