// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// TestParityOfApply: what an apply changes, and what it says.
func TestParityOfApply(t *testing.T) {
	t.Parallel()
	p := newLandscape(t, lab.Setup{Cloud: quick()})
	apply := func(args ...string) line { return cli(append([]string{"apply"}, args...)...).coordinated() }
	p.same(
		apply("-auto-approve"), apply("-auto-approve"), apply(),
		apply("-auto-approve", "-var=team=web"), apply("-auto-approve", "-var", "team=net", "-no-color"),
		apply("-auto-approve", "-refresh=false", "-parallelism=1", "-lock-timeout=3s", "-compact-warnings"),
		apply("-auto-approve", "-lock=false", "-var=team=one"),
		apply("-auto-approve", "-target=module.subnets").warning(), apply("-target=simcloud_virtual_network.net", "-replace=simcloud_virtual_network.net", "-compact-warnings").exits(1),
		apply("-auto-approve", "-replace=module.subnets.simcloud_network_security_group.each[\"a\"]"),
		apply("-auto-approve", "-refresh-only"), apply("-refresh-only").exits(1), apply("-refresh-only", "-destroy").exits(1), cli("destroy", "-refresh-only").exits(1),
		apply("-auto-approve", "-json", "-var=team=two"), apply("-auto-approve", "-json"), apply("-json").exits(1),
		apply("-input=false", "-var=team=three").exits(1),
		apply("-auto-approve", "no-such-file").exits(1), apply("no-such-file").exits(1), apply("a", "b").exits(1), apply(".").exits(1),
		apply("-auto-approve", "-var=none=1").exits(1), apply("-auto-approve", "-var-file=none").exits(1),
		apply("-auto-approve", "-target=]").exits(1), apply("-auto-approve", "-lock-timeout=x").exits(1), apply("-parallelism=x").exits(1),
		apply("-destroy", "-target=module.subnets.simcloud_network_security_group.each", "-auto-approve").warning(),
		apply("-auto-approve", "-json", "-destroy", "-target=module.subnets"),
	)
	p.same(cli("state", "pull"))
}

// TestParityOfApproval: an answer on standard input.
func TestParityOfApproval(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick(), Env: []string{"TF_INPUT="}}, group())
	apply := func(args ...string) line { return cli(append([]string{"apply"}, args...)...).coordinated() }
	p.same(
		apply().exits(1), apply().reading("no\n").exits(1), apply().reading("yes").exits(1), apply().reading("yes\n"),
		apply("-replace=simcloud_resource_group.shared").reading("\n").exits(1), apply("-replace=simcloud_resource_group.shared").reading("YES\n").exits(1),
		apply("-no-color", "-replace=simcloud_resource_group.shared").reading(" yes\n").exits(1),
		apply("-no-color", "-replace=simcloud_resource_group.shared").reading("yes \nmore\n"),
		apply("-input=false", "-replace=simcloud_resource_group.shared").reading("yes\n"),
		cli("workspace", "new", "other"), apply("-no-color").reading("no\n").exits(1), apply().reading("no\n").exits(1),
		cli("workspace", "select", "default"),
		cli("destroy").coordinated().reading("no\n").exits(1), cli("destroy", "-no-color").coordinated().exits(1),
	)
	p.configure("variable \"name\" {\n  type = string\n}\noutput \"name\" {\n  value = var.name\n}\n" + group())
	p.same(
		apply("-no-color").reading("a\n").exits(1), apply("-no-color").reading("a\nyes\n").exits(1), cli("plan", "-no-color").reading("a\n"),
		cli("plan", "-no-color", "-input=false").exits(1), cli("output"),
	)
}

// TestParityOfErrors: the cloud and the configuration refuse.
func TestParityOfErrors(t *testing.T) {
	t.Parallel()
	p := newTwins(t, lab.Setup{Cloud: quick()}, subnet("nowhere", "s", 1))
	apply := func(args ...string) line {
		return cli(append([]string{"apply", "-auto-approve"}, args...)...).coordinated()
	}
	p.same(apply().exits(1), apply("-json").exits(1), apply("-no-color").exits(1))
	p.configure(group() + network("net", "") + "output \"o\" {\n  value = no.such\n}\n")
	p.same(apply().exits(1), apply("-json").exits(1), cli("plan").exits(1), cli("plan", "-json").exits(1), cli("validate").exits(1), cli("validate", "-json").exits(1))
	p.configure("resource {\n")
	p.same(apply().exits(1), cli("plan", "-json").exits(1), cli("validate").exits(1), cli("console").exits(1), cli("test").exits(1), cli("refresh").exits(1))
	p.configure(group() + `
check "warned" {
  assert {
    condition     = simcloud_resource_group.shared.name == "other"
    error_message = "It is not the other one."
  }
}

variable "limited" {
  default = 3
  validation {
    condition     = var.limited < 5
    error_message = "At most four."
  }
}

resource "terraform_data" "built_in" {
  input = var.limited
  lifecycle {
    postcondition {
      condition     = self.output != 4
      error_message = "Four it must not be."
    }
  }
}
`)
	p.same(
		apply().warning(), apply("-json"), apply("-var=limited=7").exits(1), apply("-var=limited=4").warning(),
		apply("-var=limited=3", "-json"), cli("plan", "-no-color"), cli("plan", "-compact-warnings"),
	)
}
