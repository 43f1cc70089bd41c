// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newThings is a configuration of all kinds of instances to be created, and
// their addresses.
const newThings = `
provider "FX" {}

provider "FX" {
  alias  = "west"
  region = "west"
}

variable "secret" {
  default   = "hush"
  sensitive = true
}

resource "FX_thing" "n" {
  count = 2
  name  = "n-${count.index}"
}

resource "FX_thing" "e" {
  for_each = toset(["a\"b", "ü.ж", "x[0]"])
  name     = "e-${md5(each.key)}"
}

resource "FX_account" "twin" {
  count = 2
}

module "outer" {
  source   = "./outer"
  for_each = toset(["k.1"])
}

# What is not known when it is planned is when it is applied.
resource "terraform_data" "later" {}

resource "FX_thing" "later" {
  name = "later"
  blob = terraform_data.later.id
}

resource "FX_thing" "east" {
  name = "same"
}

resource "FX_thing" "west" {
  provider = FX.west
  name     = "same"
}

resource "FX_thing" "secret" {
  name             = "secret"
  size             = 1.0
  secret           = var.secret
  password         = "pass"
  password_version = 1
  rule {
    port  = 9007199254740993
    token = var.secret
  }
  rule {
    port = 2
  }
}
`

var modulesOfThings = map[string]string{
	"outer/main.tf": fixtureOnly + "module \"inner\" {\n  source   = \"./inner\"\n  for_each = toset([\"ü\", \"z\"])\n  key      = each.key\n}\n",
	"outer/inner/main.tf": fixtureOnly + "variable \"key\" {}\n" +
		"resource \"FX_thing\" \"in\" {\n  count = 1\n  name  = \"in-${md5(var.key)}\"\n}\n" +
		"resource \"FX_account\" \"own\" {}\n",
}

// allTwins are accounts that nobody can tell apart before they are there.
const allTwins = `one of FX_account.twin[0], FX_account.twin[1], module.outer["k.1"].module.inner["z"].FX_account.own, module.outer["k.1"].module.inner["ü"].FX_account.own`

// TestAddressesOfRefusedCreates: whatever is refused is named by its address,
// in the CLI's own words and in the machine-readable lines; where nothing tells
// which of a few it is, those are named and none is picked.
func TestAddressesOfRefusedCreates(t *testing.T) {
	for _, fixture := range []string{"five", "six"} {
		t.Run(fixture, func(t *testing.T) {
			t.Parallel()
			a := newAddresses(t, fixture)
			w := a.of("bob", newThings, modulesOfThings)
			a.hold()
			want := []string{
				`FX_thing.n[0]`, `FX_thing.n[1]`, `FX_thing.e["a\"b"]`, `FX_thing.e["ü.ж"]`, `FX_thing.e["x[0]"]`,
				`FX_thing.later`, `FX_thing.east`, `FX_thing.west`, `FX_thing.secret`, allTwins,
				`module.outer["k.1"].module.inner["z"].FX_thing.in[0]`, `module.outer["k.1"].module.inner["ü"].FX_thing.in[0]`,
			}
			a.refusedAll(w, nil, want...)
		})
	}
}

// changedThings is a state and a configuration whose plan updates, moves,
// imports, replaces in both orders, and deletes.
func changedThings() (before, after string) {
	return `
resource "FX_thing" "gone" {
  for_each = toset(["a\"b", "ü"])
  name     = "gone-${md5(each.key)}"
}

resource "FX_thing" "old" {
  name = "moved"
}

resource "FX_thing" "same" {
  count = 2
  name  = "same-${count.index}"
}
`, `
moved {
  from = FX_thing.old
  to   = FX_thing.new["é"]
}

resource "FX_thing" "new" {
  for_each = toset(["é"])
  name     = "moved"
  size     = 2
}

import {
  to = FX_thing.imported
  id = "nowhere/found"
}

resource "FX_thing" "imported" {
  name = "found"
  size = 3
}

resource "FX_thing" "same" {
  count = 2
  name  = "same-${count.index}"
  blob  = "equal"
}
`
}

// TestAddressesOfRefusedChanges: the same of updates, also of objects that are
// moved or imported, and of deletes, of which the CLI prints neither address nor
// source.
func TestAddressesOfRefusedChanges(t *testing.T) {
	for _, fixture := range []string{"five", "six"} {
		t.Run(fixture, func(t *testing.T) {
			t.Parallel()
			a := newAddresses(t, fixture)
			before, after := changedThings()
			w, maker := a.of("bob", before, nil), a.of("maker", "resource \"FX_thing\" \"found\" {\n  name = \"found\"\n}\n", nil)
			a.terraform(w, 0, "apply", "-auto-approve", "-no-color")
			a.terraform(maker, 0, "apply", "-auto-approve", "-no-color")
			a.configure(w, after)
			a.hold()
			all := []string{
				`FX_thing.gone["a\"b"]`, `FX_thing.gone["ü"]`, `FX_thing.new["é"]`, `FX_thing.imported`, `FX_thing.same[0]`, `FX_thing.same[1]`,
			}
			lines := addressesIn(t, a.refusedAll(w, nil, all...), "weaver_conflict")
			for i := range all {
				all[i] = a.text(all[i])
			}
			slices.Sort(all)
			if diff := cmp.Diff(all, lines); diff != "" {
				t.Errorf("weaver_conflict lines (-want +got):\n%s", diff)
			}
			targeted := addressesIn(t, a.refusedAll(w, []string{"-target=" + a.text("FX_thing.same[1]")}), "weaver_conflict")
			if diff := cmp.Diff([]string{a.text("FX_thing.same[1]")}, targeted); diff != "" {
				t.Errorf("weaver_conflict lines of the targeted plan (-want +got):\n%s", diff)
			}
		})
	}
}

// replacedThings are two that are replaced, in either order, and one whose old
// object cannot be deleted.
func replacedThings(kind, fault string) string {
	return fmt.Sprintf(`
resource "FX_thing" "first" {
  for_each = toset(["d\"1"])
  name     = "first"
  kind     = %[1]q
}

resource "FX_thing" "before" {
  name = "before-%[1]s"
  kind = %[1]q
  lifecycle {
    create_before_destroy = true
  }
}

resource "FX_thing" "stuck" {
  name  = "stuck-%[2]s"
  fault = %[2]q
  lifecycle {
    create_before_destroy = true
  }
}
`, kind, fault)
}

// TestAddressesOfRefusedReplaces: the halves of a replace, in both orders, and
// the delete of a deposed object that an earlier run left.
func TestAddressesOfRefusedReplaces(t *testing.T) {
	t.Parallel()
	a := newAddresses(t, "six")
	w := a.of("bob", replacedThings("a", "error-delete"), nil)
	a.terraform(w, 0, "apply", "-auto-approve", "-no-color")
	a.configure(w, replacedThings("a", ""))
	a.terraform(w, 1, "apply", "-auto-approve", "-no-color") // its old object stays, deposed
	deposed := "FX_thing.stuck (deposed object " + deposedKey(t, w.Dir) + ")"
	a.hold()
	a.refusedAll(w, nil, deposed)
	a.configure(w, replacedThings("b", ""))
	a.refusedAll(w, nil, `FX_thing.first["d\"1"]`, `FX_thing.before`, deposed)
	a.refusedAll(w, []string{"-replace=six_thing.before", "-target=six_thing.before"}, `FX_thing.before`)
}

// deposedKey is the key of the one deposed object in the state of a folder.
func deposedKey(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(dir + "/terraform.tfstate")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), `"deposed": "`)
	key, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		t.Fatal("no object is deposed: the scenario provokes nothing")
	}
	return key
}
