// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// TestFixtureWorksForPlainTerraform applies and destroys a bit of everything
// that the fixture providers have, with the plain CLI: what later tests find
// under tfweaver is then not the fixture's doing.
func TestFixtureWorksForPlainTerraform(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{})
	w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "alice", `
provider "five" { region = "south" }
resource "five_thing" "a" {
  name             = provider::five::shout("a")
  secret           = "s3cr3t"
  password         = ephemeral.six_token.t.value
  password_version = 1
  rule { port = 1 }
}
resource "six_account" "b" {}
ephemeral "six_token" "t" { length = 40 }
data "five_thing" "a" {
  name       = "A!"
  depends_on = [five_thing.a]
}
output "found" { value = "${data.five_thing.a.id} ${six_account.b.region}" }
`))
	applied := b.terraform(w, 0, "apply", "-auto-approve", "-no-color")
	if want := `found = "south/A! nowhere"`; !strings.Contains(applied.Stdout(), want) {
		t.Errorf("no %s", want)
	}
	b.unchanged(w)
	b.terraform(w, 0, "destroy", "-auto-approve", "-no-color")
	events, err := b.FixtureJournal()
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		journal.Start, journal.Stop, journal.Configure, journal.Read, journal.Plan, journal.Create, journal.Delete,
		journal.End, journal.Open, journal.Close,
	} {
		if !slices.ContainsFunc(events, func(e lab.FixtureEvent) bool { return e.What == what }) {
			t.Errorf("the journal has no %q", what)
		}
	}
}
