// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// mixed uses three providers and both protocols: two configurations of one,
// functions, an ephemeral resource, a write-only attribute, sensitive values, a
// data source, and a reference from one provider's object to another's.
const mixed = `provider "five" {
  region = "north"
  token  = "hush"
}

provider "six" {
  region = "south"
}

provider "six" {
  alias  = "other"
  region = provider::five::shout("west")
}

variable "size" {
  type    = number
  default = 1
}

variable "fault" {
  type    = string
  default = null
}

ephemeral "six_token" "t" {
  length = 12
}

resource "five_thing" "a" {
  name   = "a"
  size   = var.size
  secret = "hidden"
  rule {
    port  = 80
    token = "hidden too"
  }
}

resource "six_thing" "b" {
  provider         = six.other
  name             = provider::six::shout(five_thing.a.id)
  password         = ephemeral.six_token.t.value
  password_version = 1
  size             = var.size
  fault            = var.fault
}

resource "six_thing" "c" {
  name = "c"
  kind = "size-${var.size}"
  blob = six_thing.b.region
}

resource "six_account" "d" {}

data "five_thing" "a" {
  name       = "a"
  depends_on = [five_thing.a]
}

output "read" {
  value = data.five_thing.a.id
}

output "hidden" {
  value     = five_thing.a.secret
  sensitive = true
}
`

// TestParityOfMixedProtocols: what crosses several proxies at once.
func TestParityOfMixedProtocols(t *testing.T) {
	t.Parallel()
	p := newMixedTwins(t, lab.Setup{Cloud: quick()}, mixed+group())
	p.write("test/all.tftest.hcl", "run \"apply\" {\n  variables {\n    size = 9\n  }\n  assert {\n    condition     = five_thing.a.size == 9\n    error_message = \"It is not nine.\"\n  }\n}\n")
	p.same(
		cli("validate"), cli("plan", "-no-color"), cli("plan", "-json"), cli("test", "-no-color", "-test-directory=test"),
		applied("apply", "-auto-approve", "-no-color"), cli("plan", "-detailed-exitcode"), applied("apply", "-auto-approve"),
		cli("output", "-json"), cli("show", "-no-color"), cli("console").reading("provider::five::shout(six_thing.c.blob)\n").saying("WEST"),
		applied("apply", "-auto-approve", "-json", "-var=size=2"), cli("refresh"),
		applied("apply", "-auto-approve", "-var=size=3", "-var=fault=error").exits(1), applied("apply", "-auto-approve", "-json", "-var=size=4", "-var=fault=error").exits(1),
		cli("plan", "-no-color", "-var=size=2"), cli("providers", "schema", "-json"), cli("show", "-json"),
		cli("plan", "-no-color", "-destroy"), applied("destroy", "-auto-approve", "-no-color"),
	)
}

// TestParityOfImports: objects that are there are taken over. The CLI says that it
// has generated a configuration only by chance when a plan has more resources.
func TestParityOfImports(t *testing.T) {
	t.Parallel()
	p := newMixedTwins(t, lab.Setup{Cloud: quick()}, "resource \"six_thing\" \"a\" {\n  name = \"a\"\n}\n")
	p.same(applied("apply", "-auto-approve"), cli("state", "rm", "six_thing.a"))
	p.write("main.tf", lab.FixturePreamble)
	p.write("found.tf", "import {\n  to = six_thing.found\n  id = \"nowhere/a\"\n}\n")
	p.same(
		cli("plan", "-no-color").exits(1), cli("plan", "-generate-config-out=made.tf", "-no-color").saying("written it to made.tf"),
		cli("plan", "-generate-config-out=made.tf").exits(1), applied("apply", "-auto-approve"), cli("plan", "-no-color"),
	)
	p.write("found.tf", "moved {\n  from = six_thing.found\n  to   = six_thing.kept\n}\n")
	p.write("made.tf", "resource \"six_thing\" \"kept\" {\n  name = \"a\"\n}\n")
	p.same(applied("apply", "-auto-approve", "-no-color").saying("has moved to"))
	p.write("made.tf", "")
	p.write("found.tf", "removed {\n  from = six_thing.kept\n  lifecycle {\n    destroy = false\n  }\n}\n")
	p.same(cli("plan", "-no-color"), applied("apply", "-auto-approve"), cli("state", "list"))
}
