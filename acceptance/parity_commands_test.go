// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// landscape crosses the proxy in many ways: resources of the root and of a local
// module, some by for_each, a data source, an output that is sensitive, and a
// variable.
func landscape() string {
	return `variable "team" {
  type    = string
  default = "net"
}

variable "secret" {
  type      = string
  default   = "hush"
  sensitive = true
}

` + group() + network("net", "team = var.team") + `
module "subnets" {
  source  = "./subnets"
  network = simcloud_virtual_network.net.name
}

data "simcloud_resource_group" "shared" {
  name = simcloud_resource_group.shared.name
}

output "network" {
  value = simcloud_virtual_network.net.name
}

output "secret" {
  value     = var.secret
  sensitive = true
}

output "place" {
  value = data.simcloud_resource_group.shared.location
}
`
}

// subnetsModule is the local module of landscape.
const subnetsModule = `terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

variable "network" {
  type = string
}

resource "simcloud_subnet" "one" {
  name                 = "one"
  resource_group_name  = "shared"
  virtual_network_name = var.network
  address_prefix       = "10.0.1.0/24"
}

resource "simcloud_network_security_group" "each" {
  for_each            = toset(["a", "b"])
  name                = each.key
  resource_group_name = "shared"
  location            = "westeurope"
  depends_on          = [simcloud_subnet.one]
}

output "ids" {
  value = { for name, group in simcloud_network_security_group.each : name => group.id }
}
`

// newLandscape are twins with the landscape, its module installed.
func newLandscape(t *testing.T, setup lab.Setup) *twins {
	t.Helper()
	p := newTwins(t, setup, landscape())
	p.write("subnets/main.tf", subnetsModule)
	p.same(cli("get", "-no-color"))
	return p
}

// quick is a cloud in which nothing takes long.
func quick() lab.CloudConfig { return lab.CloudConfig{Scale: 0.01} }

// TestParityOfCommandsWithoutState: everything that is done with a configuration
// alone.
func TestParityOfCommandsWithoutState(t *testing.T) {
	t.Parallel()
	p := newBareTwins(t, lab.Setup{Cloud: quick()}, lab.Preamble+landscape())
	p.write("subnets/main.tf", subnetsModule)
	p.write("untidy.tf", "locals {\n  a=1\n      b =   [ 2,3 ]\n}\n")
	p.same(
		cli("version"), cli("version", "-json"), cli("-version"), cli("-v"),
		cli("unknown-command").exits(1), cli("-unknown-option").helped().exits(127), cli().helped().exits(127), cli("-help").helped(), cli("apply", "-help").helped(), cli("plan", "-h").helped(), cli("plan", "-unknown-option").exits(1),
		cli("apply", "-unknown-option").exits(1), cli("destroy", "-unknown-option=3").exits(1),
		cli("output", "-help"), cli("init", "-help"), cli("state", "-help"), cli("workspace").exits(1),
		cli("validate").exits(1), cli("plan").exits(1), cli("plan", "-json").exits(1), cli("apply", "-auto-approve").exits(1),
		cli("init", "-unknown-option").exits(1),
		cli("init", "-backend=false", "-no-color"), cli("init"), cli("init", "-upgrade"), cli("init", "-json"),
		cli("get"), cli("get", "-update"),
		cli("fmt", "-check", "-diff").exits(3), cli("fmt", "-").reading("locals {\na=1\n}\n"), cli("fmt", "-list=false"), cli("fmt"),
		cli("fmt", "-").reading("locals {").exits(2),
		cli("validate"), cli("validate", "-json"), cli("validate", "-no-color"),
		cli("providers"), cli("providers", "schema", "-json"),
		cli("providers", "lock", "-fs-mirror="+shared.Mirror(6)), cli("providers", "mirror", "copy").exits(1),
		cli("providers", "unknown").exits(1),
		cli("graph"), cli("graph", "-type=plan"), cli("graph", "-type=apply", "-no-color"),
		cli("login", "example.com").exits(1), cli("logout", "example.com"), cli("login").exits(1),
		cli("metadata", "functions", "-json"), cli("modules", "-json"),
		cli("console").reading("upper(var.team)\n"), cli("console").reading("var.secret\n"), cli("console").reading("no.such.thing\n").exits(1),
		cli("test"), cli("test", "-json"),
		cli("state", "list").exits(1), cli("show"), cli("output"), cli("output", "-json"), cli("output", "network"),
		cli("force-unlock", "-force", "no-such-lock").exits(1), cli("refresh", "-no-color"),
	)
}

// TestParityOfCommandsWithState: plans, and everything that looks at a state or
// changes it.
func TestParityOfCommandsWithState(t *testing.T) {
	t.Parallel()
	p := newLandscape(t, lab.Setup{Cloud: quick()})
	member := "module.subnets.simcloud_network_security_group.each[\"a\"]"
	p.same(
		cli("plan"), cli("plan", "-json"), cli("plan", "-detailed-exitcode").exits(2),
		cli("plan", "-out=p.tfplan").coordinated(), cli("show", "p.tfplan"), cli("show", "-json", "p.tfplan"), cli("graph", "-plan=p.tfplan"),
		cli("apply", "p.tfplan").coordinated(), cli("apply", "p.tfplan").coordinated().exits(1).saying("stale"),
		cli("plan", "-detailed-exitcode"), cli("plan", "-json"), cli("plan", "-destroy"), cli("plan", "-refresh-only", "-var=team=web"),
		cli("plan", "-var=team=web"), cli("plan", "-var", "team=web", "-target=module.subnets", "-compact-warnings"),
		cli("plan", "-replace=simcloud_virtual_network.net", "-no-color"), cli("plan", "-refresh=false", "-parallelism=1"),
		cli("show"), cli("show", "-json"), cli("show", "-no-color"),
		cli("output"), cli("output", "-json"), cli("output", "-raw", "network"), cli("output", "secret"), cli("output", "none").exits(1),
		cli("state", "list"), cli("state", "list", "module.subnets"), cli("state", "show", "simcloud_virtual_network.net"),
		cli("state", "show", "none.such").exits(1), cli("state", "pull"),
		cli("state", "mv", "simcloud_virtual_network.net", "simcloud_virtual_network.moved"),
		cli("state", "mv", "simcloud_virtual_network.moved", "simcloud_virtual_network.net"),
		cli("state", "replace-provider", "-auto-approve", "tfweaver/none", "tfweaver/other"),
		cli("taint", "simcloud_virtual_network.net"), cli("plan"), cli("untaint", "simcloud_virtual_network.net"),
		cli("untaint", "simcloud_virtual_network.net").exits(1),
		cli("console").reading("simcloud_virtual_network.net.name\n"), cli("console").reading("module.subnets.ids\n"),
		cli("refresh"), cli("refresh", "-json"), cli("refresh", "-target=module.subnets"),
		cli("state", "rm", member), cli("plan", "-no-color"),
		cli("import", member, securityGroupID("a")), cli("import", member, securityGroupID("a")).exits(1),
		cli("import", "simcloud_virtual_network.none", "none").exits(1), cli("import").exits(1),
		cli("plan", "-detailed-exitcode"),
		cli("workspace", "list"), cli("workspace", "show"), cli("workspace", "new", "other"), cli("plan", "-no-color"),
		cli("workspace", "select", "default"), cli("workspace", "delete", "other"), cli("workspace", "select", "none").exits(1),
		cli("state", "push", "no-such-file").exits(1), cli("force-unlock", "-force", "no-such-lock").exits(1),
	)
}

// TestParityOverProtocolFive: the commands that run providers, over the older of
// the two protocols.
func TestParityOverProtocolFive(t *testing.T) {
	t.Parallel()
	p := newLandscape(t, lab.Setup{Cloud: quick(), Protocol: 5})
	p.same(
		cli("plan"), cli("plan", "-out=p.tfplan").coordinated(), cli("show", "-json", "p.tfplan"), cli("apply", "p.tfplan").coordinated(),
		cli("plan", "-detailed-exitcode", "-json"), cli("apply", "-auto-approve", "-var=team=web").coordinated(), cli("refresh"), cli("state", "pull"),
		cli("state", "rm", "simcloud_virtual_network.net"), cli("import", "simcloud_virtual_network.net", cloudPrefix+"virtualNetworks/net"),
		cli("console").reading("module.subnets.ids\n"), cli("destroy", "-auto-approve").coordinated(),
	)
}
