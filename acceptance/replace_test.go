// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// collisions are a small part of "make replace".
func collisions(t *testing.T, rounds int) experiment.Tally {
	t.Helper()
	series := experiment.Series(shared, 12, true)
	series.Wanted, series.Together, series.Progress = rounds, 3, t.Logf
	results, err := series.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return experiment.TallyOf(results)
}

// TestDestroyVersusReplace: one run replaces a machine that another one destroys,
// at random moments. Nobody touches a machine that it has not planned for, and
// whoever comes second is told by whom and what for.
func TestDestroyVersusReplace(t *testing.T) {
	t.Parallel()
	const rounds = 12
	tally := collisions(t, rounds)
	for round, what := range tally.Broken {
		t.Errorf("%v: %s", experiment.Draw(12, round, true), strings.Join(what, "; "))
	}
	if tally.Rounds != rounds || tally.Lost != 0 || tally.Stray != 0 || tally.Whole != rounds || tally.Attributed != rounds {
		t.Errorf("%+v", tally)
	}
	if err := tally.Telling(); err != nil {
		t.Error(err)
	}
}

// TestDestroyVersusReplacePlainTerraformLoses is the control of
// TestDestroyVersusReplace: a destroy that was planned before a replace and is
// applied after it ends well for both, and the new machine is gone.
func TestDestroyVersusReplacePlainTerraformLoses(t *testing.T) {
	t.Parallel()
	round := experiment.Round{Number: 0, Seed: 12, Lead: 8 * time.Second, Saved: true}
	played, err := experiment.Play(t.Context(), shared, round)
	if err != nil {
		t.Fatal(err)
	}
	tally := experiment.TallyOf([]experiment.Result{played.Result})
	if tally.Lost != 1 || tally.Stray == 0 || tally.Attributed != 0 {
		t.Errorf("%v: nothing is lost: the scenario provokes nothing: %+v", round, tally)
	}
}

// crossingReplace is a subnet and a rule, one after the other, that are replaced
// together; version makes the names and the ranges.
func crossingReplace(subnetName, ruleName string, subnetFirst, createFirst bool, number, version int) string {
	s := subnet("net", fmt.Sprintf("%s-v%d", subnetName, version), number*10+version)
	r := rule("sg", fmt.Sprintf("%s-v%d", ruleName, version), 1000+number*10+version)
	// The addresses stay, so that another version is another object of the same
	// resource.
	s = strings.Replace(s, fmt.Sprintf(`"simcloud_subnet" "%s-v%d"`, subnetName, version), `"simcloud_subnet" "s"`, 1)
	r = strings.Replace(r, fmt.Sprintf(`"simcloud_network_security_rule" "%s-v%d"`, ruleName, version), `"simcloud_network_security_rule" "r"`, 1)
	more := ""
	if createFirst {
		more = "  lifecycle {\n    create_before_destroy = true\n  }\n"
	}
	first, second := "", after("simcloud_subnet.s")
	if !subnetFirst {
		first, second = after("simcloud_network_security_rule.r"), ""
	}
	return ending(s, more+"  "+first) + ending(r, more+"  "+second)
}

// ending puts lines before the brace that ends a resource.
func ending(hcl, more string) string {
	return hcl[:strings.LastIndexByte(hcl, '}')] + more + "\n}\n"
}

// TestCrossingReplacesFinish: two runs replace a subnet and a rule each, in a
// network and a security group that both share, in opposite order. Each run holds
// together what it replaces, so that neither stands in the middle of the other.
func TestCrossingReplacesFinish(t *testing.T) {
	for name, createFirst := range map[string]bool{"deleted first": false, "created first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			b.succeeded(b.applyAll(plain, b.workspace("base", group()+network("net", "")+securityGroup("sg")))...)
			one := b.workspace("one", crossingReplace("a", "ra", true, createFirst, 1, 1))
			two := b.workspace("two", crossingReplace("b", "rb", false, createFirst, 2, 1))
			for _, w := range []*lab.Workspace{one, two} {
				b.succeeded(b.applyAll(plain, w)...)
			}
			begun := time.Now()
			for w, hcl := range map[*lab.Workspace]string{
				one: crossingReplace("a", "ra", true, createFirst, 1, 2), two: crossingReplace("b", "rb", false, createFirst, 2, 2),
			} {
				if err := w.Configure(hcl); err != nil {
					t.Fatal(err)
				}
			}
			b.succeeded(b.applyAll(woven, one, two)...)
			b.unchanged(one, two)
			together(t, b.clean(), begun, 4)
		})
	}
}

// together fails the test unless each actor made so many calls since a moment, and
// no other actor's call came between them.
func together(t *testing.T, log activity.Log, since time.Time, calls int) {
	t.Helper()
	var order []string
	for _, o := range log.Operations {
		if o.Start.After(since) {
			order = append(order, o.Actor)
		}
	}
	changes := 0
	for n := 1; n < len(order); n++ {
		if order[n] != order[n-1] {
			changes++
		}
	}
	if len(order) != 2*calls || changes != 1 {
		t.Errorf("the calls came from %v", order)
	}
}

// TestNobodyGetsBetweenAReplace: while a machine is replaced it does not exist for
// a moment, and its interface, which belongs to another state, is free. Whoever
// wants to delete the interface is kept out until the machine is there again, and
// then told that it needs the interface.
func TestNobodyGetsBetweenAReplace(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["virtual_machine"] = 3 * time.Second
	b := newBench(t, setup)
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	networkOwner := b.workspace("netowner", subnet("net", "s", 1)+inSubnet("nic", "simcloud_subnet.s.id"))
	b.succeeded(b.applyAll(woven, networkOwner)...)
	nic := fmt.Sprintf("network_interface_ids = [%q]", cloudPrefix+"networkInterfaces/nic")
	owner := b.workspace("owner", machine("m", nic, `image = "v1"`))
	b.succeeded(b.applyAll(woven, owner)...)
	if err := owner.Configure(machine("m", nic, `image = "v2"`)); err != nil {
		t.Fatal(err)
	}
	replace := b.start(wovenFor("move the machine to v2"), owner, "apply", "-auto-approve", "-no-color")
	b.awaitOf(replace, "the machine is being deleted", func(log activity.Log) bool { return len(ofType(log, "virtualMachines")) > 1 })
	remove := b.start(wovenFor("tidy up"), networkOwner, "destroy", "-auto-approve", "-no-color")
	b.wait(replace, remove)
	b.succeeded(replace)
	if remove.ExitCode != 1 {
		t.Errorf("exit code %d of who wants the interface away", remove.ExitCode)
	}
	says(t, "the refusal", remove.Said(), `nic`, `owner`)
	if n := len(ofType(b.clean(), "networkInterfaces")); n != 1 {
		t.Errorf("%d operations on the interface, want its creation alone", n)
	}
	b.unchanged(owner)
}

// inSubnet is an interface in a subnet that is given as an expression.
func inSubnet(name, subnet string) string {
	return fmt.Sprintf(`resource "simcloud_network_interface" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = "shared"
  location            = "westeurope"
  subnet_id           = %[2]s
}
`, name, subnet)
}
