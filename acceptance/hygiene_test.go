// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// everyType uses all resource types of the provider.
func everyType() string {
	return group() + network("net", `team = "net"`) + securityGroup("sg") + rule("sg", "r", 1000) +
		subnet("net", "s", 1, after("simcloud_virtual_network.net")) +
		`resource "simcloud_public_ip" "ip" {
  name                = "ip"
  resource_group_name = simcloud_resource_group.shared.name
  location            = "westeurope"
}

resource "simcloud_network_interface" "nic" {
  name                      = "nic"
  resource_group_name       = simcloud_resource_group.shared.name
  location                  = "westeurope"
  subnet_id                 = simcloud_subnet.s.id
  public_ip_id              = simcloud_public_ip.ip.id
  network_security_group_id = simcloud_network_security_group.sg.id
}

resource "simcloud_subnet_network_security_group_association" "s" {
  subnet_id                 = simcloud_subnet.s.id
  network_security_group_id = simcloud_network_security_group.sg.id
}

resource "terraform_data" "built_in" {
  input = simcloud_network_interface.nic.private_ip_address
}
`
}

// dependentRule puts the dependency into everyType's rule, which knows its
// security group by name only.
func dependentRule(hcl string) string {
	return strings.Replace(hcl, `network_security_group_name = "sg"`, "network_security_group_name = simcloud_network_security_group.sg.name", 1)
}

// TestStateIsWhatPlainTerraformWouldHaveLeft: create, update and destroy of every
// resource type through tfweaver, over both plugin protocols; in between plain
// Terraform finds nothing to do and nothing of tfweaver's in the state.
func TestStateIsWhatPlainTerraformWouldHaveLeft(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{5, 6} {
		t.Run(fmt.Sprintf("protocol %d", protocol), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast(), Protocol: protocol})
			w := b.workspace("alone", dependentRule(everyType()))
			b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			b.unchanged(w)
			if err := w.Configure(strings.Replace(dependentRule(everyType()), `team = "net"`, `team = "web"`, 1)); err != nil {
				t.Fatal(err)
			}
			b.tfweaver(w, 2, "plan", "-detailed-exitcode", "-no-color")
			b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			b.unchanged(w)
			state, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(string(state)), "weaver\"") {
				t.Error("there is something of tfweaver's in the state")
			}
			b.tfweaver(w, 0, "destroy", "-auto-approve", "-no-color")
			b.clean()
			left, err := w.Resources(b.ctx)
			if err != nil || len(left) != 0 {
				t.Errorf("left in the state: %v, %v", left, err)
			}
			// A plan file that is left behind has every secret in clear.
			files, err := os.ReadDir(b.TempDir())
			if err != nil || len(files) != 0 {
				t.Errorf("left among the temporary files: %v, %v", files, err)
			}
		})
	}
}

// TestReplaceGoesThrough: a replace is a destroy and a create; both go through
// and the state is clean.
func TestReplaceGoesThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", group()+network("net", "")+subnet("net", "s", 1, after("simcloud_virtual_network.net")))
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	run := b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color", "-replace=simcloud_subnet.s")
	if !strings.Contains(run.Stdout(), "1 added, 0 changed, 1 destroyed") {
		t.Errorf("the subnet was not replaced")
	}
	b.clean()
	b.unchanged(w)
}

// TestSavedPlan: a plan made by tfweaver is an ordinary plan, and so is the other
// way round.
func TestSavedPlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	first := b.workspace("first", group()+network("net", ""))
	b.tfweaver(first, 0, "plan", "-out=p.tfplan", "-no-color")
	b.terraform(first, 0, "apply", "-no-color", "p.tfplan")
	second := b.workspace("second", subnet("net", "s", 1))
	b.terraform(second, 0, "plan", "-out=p.tfplan", "-no-color")
	b.tfweaver(second, 0, "apply", "-no-color", "p.tfplan")
	b.clean()
	b.unchanged(first, second)
}
