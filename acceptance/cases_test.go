// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// fourSubnets is one configuration whose subnets Terraform writes all at once:
// they depend on the network and not on one another.
func fourSubnets(more ...string) string {
	hcl := group() + network("net", "")
	for n, name := range []string{"s1", "s2", "s3", "s4"} {
		hcl += subnet("net", name, n+1, append(more, after("simcloud_virtual_network.net"))...)
	}
	return hcl
}

// TestC01SubnetsOfOneNetworkCreatedTogether: several subnets of one network in
// one configuration (reported for azurerm as issue 3780).
func TestC01SubnetsOfOneNetworkCreatedTogether(t *testing.T) {
	// Slower than elsewhere: here a tenth of it has to cover all else.
	cloud := fast()
	cloud.Latencies["virtual_network"], cloud.Latencies["subnet"] = time.Second, 2*time.Second
	b := newBench(t, lab.Setup{Cloud: cloud})
	w := b.workspace("alone", fourSubnets())
	b.succeeded(b.applyAll(woven, w)...)
	log := b.clean()
	if n := log.Succeeded(); n != 6 {
		t.Errorf("%d operations succeeded, want 6", n)
	}
	// Everything in this configuration follows one another in any case.
	var serial time.Duration
	for _, o := range log.Operations {
		serial += o.Duration()
	}
	t.Logf("makespan %v, one after another %v", log.Makespan(), serial)
	if limit := serial * 11 / 10; log.Makespan() > limit {
		t.Errorf("makespan %v, more than %v", log.Makespan(), limit)
	}
	b.unchanged(w)
}

// TestC01PlainTerraformIsRefused is the control of TestC01.
func TestC01PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	runs := b.applyAll(plain, b.workspace("alone", fourSubnets()))
	if n := b.log().RefusedWith(string(arm.CodeAnotherOperationInProgress)); runs[0].ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, n)
	}
}

const storage = `service_endpoints = ["Microsoft.Storage"]`

// TestC03SubnetsUpdatedTogether: an update wave over subnets of one network,
// mixed with a creation (azurerm issues 8135 and 13564).
func TestC03SubnetsUpdatedTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", fourSubnets())
	b.succeeded(b.applyAll(woven, w)...)
	if err := w.Configure(fourSubnets(storage) + subnet("net", "s5", 5)); err != nil {
		t.Fatal(err)
	}
	b.succeeded(b.applyAll(woven, w)...)
	if n := b.clean().Succeeded(); n != 6+5 {
		t.Errorf("%d operations succeeded, want 11", n)
	}
	b.unchanged(w)
}

// TestC03PlainTerraformIsRefused is the control of TestC03; its first apply is
// made one by one.
func TestC03PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", fourSubnets())
	b.terraform(w, 0, "apply", "-auto-approve", "-parallelism=1", "-no-color")
	b.clean()
	if err := w.Configure(fourSubnets(storage)); err != nil {
		t.Fatal(err)
	}
	runs := b.applyAll(plain, w)
	if n := b.log().RefusedWith(string(arm.CodeAnotherOperationInProgress)); runs[0].ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, n)
	}
}

// crossing prepares two networks and two security groups, and two sessions
// whose associations take them in opposite order.
func crossing(b *bench) []*lab.Workspace {
	base := b.workspace("base", group()+network("net1", "")+network("net2", "")+securityGroup("x")+securityGroup("y")+
		subnet("net1", "a", 1, after("simcloud_virtual_network.net1"))+
		subnet("net1", "b", 2, after("simcloud_subnet.a"))+
		subnet("net2", "c", 3, after("simcloud_virtual_network.net2"))+
		subnet("net2", "d", 4, after("simcloud_subnet.c")))
	b.terraform(base, 0, "apply", "-auto-approve", "-no-color")
	b.clean()
	return []*lab.Workspace{
		b.workspace("session-p", association("a", subnetID("net1", "a"), securityGroupID("x"))+
			association("c", subnetID("net2", "c"), securityGroupID("y"))),
		b.workspace("session-q", association("d", subnetID("net2", "d"), securityGroupID("x"))+
			association("b", subnetID("net1", "b"), securityGroupID("y"))),
	}
}

// TestC07CrossingAssociations: an association touches a network and a security
// group; two sessions that take them in opposite order must both end
// (Azure/sap-automation issue 1052).
func TestC07CrossingAssociations(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	workspaces := crossing(b)
	b.succeeded(b.applyAll(woven, workspaces...)...)
	b.clean()
	b.unchanged(workspaces...)
}

// TestC07PlainTerraformIsRefused is the control of TestC07.
func TestC07PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	b.applyAll(plain, crossing(b)...)
	if len(b.log().Refused) == 0 {
		t.Error("nothing was refused: the scenario provokes nothing")
	}
}

// tenRules is a security group with ten rules; every write needs the group's
// change token and changes it.
func tenRules() string {
	hcl := group() + securityGroup("sg")
	for n := range 10 {
		hcl += strings.Replace(rule("sg", fmt.Sprintf("r%d", n), 1000+n), `= "sg"`, "= simcloud_network_security_group.sg.name", 1)
	}
	return hcl
}

// tokenErrors counts the calls refused for a token that was no longer the
// latest, or for the write in flight that is about to change it.
func tokenErrors(log activity.Log) int {
	return log.RefusedWith(string(arm.CodePreconditionFailed)) + log.RefusedWith(string(arm.CodeAnotherOperationInProgress))
}

// TestC12OneChangeTokenForManyObjects: ten objects whose writes share one
// optimistic token (terraform issue 10335).
func TestC12OneChangeTokenForManyObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", tenRules())
	b.succeeded(b.applyAll(woven, w)...)
	if n := b.clean().Succeeded(); n != 12 {
		t.Errorf("%d operations succeeded, want 12", n)
	}
	b.unchanged(w)
}

// TestC12PlainTerraformIsRefused is the control of TestC12.
func TestC12PlainTerraformIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	runs := b.applyAll(plain, b.workspace("alone", tenRules()))
	if n := tokenErrors(b.log()); runs[0].ExitCode != 1 || n == 0 {
		t.Errorf("exit code %d with %d calls refused: the scenario provokes nothing", runs[0].ExitCode, n)
	}
}

// usedGroup makes a security group in owner's state and an interface that uses
// it in user's.
func usedGroup(b *bench, owning, using starter) (owner, user *lab.Workspace) {
	owner = b.workspace("owner", group()+securityGroup("sg"))
	b.succeeded(b.applyAll(owning, owner)...)
	user = b.workspace("user", strings.ReplaceAll(
		network("net", "")+subnet("net", "s", 1, after("simcloud_virtual_network.net")),
		"simcloud_resource_group.shared.name", `"shared"`)+
		strings.Replace(networkInterface("nic", "", securityGroupID("sg")), `""`, "simcloud_subnet.s.id", 1))
	run := b.start(using, user, "apply", "-auto-approve", "-no-color")
	b.wait(run)
	b.succeeded(run)
	b.clean()
	return owner, user
}

// wovenFor is tfweaver with a stated intent.
func wovenFor(objective string) starter {
	return func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error) {
		return w.StartTfweaver(ctx, append(args, "-weaver-intent", objective)...)
	}
}

// TestC32DestroyOfWhatAnotherStateUses: the security group is used by an
// interface of another state; its destroy is refused before the cloud is called,
// naming that interface and what it is for (terraform issue 11047).
func TestC32DestroyOfWhatAnotherStateUses(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	owner, user := usedGroup(b, wovenFor("make the baseline"), wovenFor("run the shop"))
	people := b.tfweaver(owner, 1, "destroy", "-auto-approve", "-no-color")
	for _, want := range []string{"simcloud_network_security_group.sg is refused", "used by network interface nic of user", "'run the shop'", "Delete or detach it first, or ask user"} {
		if !strings.Contains(unwrapped(people.Stderr()), want) {
			t.Errorf("the refusal does not say %q", want)
		}
	}
	// Programs are told the id of what is in the way.
	programs := b.tfweaver(owner, 1, "destroy", "-auto-approve", "-json")
	if !strings.Contains(strings.ToLower(conflicts(t, programs)), strings.ToLower(cloudPrefix+"networkInterfaces/nic")) {
		t.Error("the JSON report does not have the id of the interface")
	}
	for _, o := range b.clean().Operations {
		if o.Method == http.MethodDelete {
			t.Errorf("the cloud was asked to delete %s", o.ObjectID)
		}
	}
	b.unchanged(owner, user)
}

// conflicts are the lines of a run with -json that tell of refused changes.
func conflicts(t *testing.T, r *lab.Run) string {
	t.Helper()
	var found []string
	for text := range strings.Lines(r.Stdout()) {
		lines, err := lab.Lines(text)
		if err != nil {
			t.Fatal(err)
		}
		if lines[0].Type == lab.LineConflict {
			found = append(found, text)
		}
	}
	return strings.Join(found, "")
}

// TestC32PlainTerraformIsRefusedByTheCloud is the control of TestC32.
func TestC32PlainTerraformIsRefusedByTheCloud(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	owner, _ := usedGroup(b, plain, plain)
	b.terraform(owner, 1, "destroy", "-auto-approve", "-no-color")
	if n := b.log().RefusedWith(string(arm.CodeInUseSecurityGroup)); n == 0 {
		t.Error("the cloud did not refuse the delete: the scenario provokes nothing")
	}
}
