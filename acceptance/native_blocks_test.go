// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNativeSelections: options that choose what is planned, in both halves.
func TestNativeSelections(t *testing.T) {
	t.Parallel()
	three := named("a") + named("b", "blob = fx_thing.a.id") + named("c")
	tell(t,
		story{
			name: "target", over: []int{5}, hcl: three,
			steps: []step{
				{args: "apply -auto-approve -target=fx_thing.b", says: "2 added"},
				{args: "destroy -auto-approve -target=fx_thing.a", says: "2 destroyed"},
				applies,
			},
			check: ever("fx_thing b", "create done", "delete done", "create done"),
		},
		story{
			name: "replace", over: []int{5, 6}, hcl: three,
			steps: []step{applies, {args: "apply -auto-approve -replace=fx_thing.c", says: "1 added, 0 changed, 1 destroyed"}},
			check: ever("fx_thing c", "create done", "delete done", "create done"),
		},
		story{
			name: "refresh only", over: []int{5}, hcl: named("a", "lifecycle { ignore_changes = [blob] }"),
			steps: []step{applies, {args: "apply -auto-approve -refresh-only", before: drifted("a"), says: "0 changed"}},
			check: both(func(s *told, one *side) {
				if !strings.Contains(s.state(one), `"blob": "drifted"`) {
					s.t.Errorf("%s: what was found is not in the state", one.Actor)
				}
			}),
		},
		story{
			name: "drift is mended", hcl: named("a"), check: ever("fx_thing a", "create done", "update done"),
			steps: []step{applies, {args: "apply -auto-approve", before: drifted("a"), says: "1 changed"}},
		},
		story{
			name: "drift is not looked for", hcl: named("a"), check: ever("fx_thing a", "create done"), ends: 2,
			steps: []step{applies, {args: "apply -auto-approve -refresh=false", before: drifted("a"), says: "No changes."}},
		},
		excluding(three),
		story{
			name: "destroy as an option of apply", hcl: three, ends: 2,
			steps: []step{applies, {args: "apply -auto-approve -destroy", says: "3 destroyed"}},
		},
	)
}

// excluding is a selection that only OpenTofu has.
func excluding(hcl string) story {
	last := step{args: "apply -auto-approve -exclude=fx_thing.a", says: "1 added"}
	if shared.CLI.Product != "OpenTofu" {
		last.code, last.says = 1, "flag provided but not defined: -exclude"
	}
	return story{name: "exclude", hcl: hcl, steps: []step{last}, ends: 2, check: ever("fx_thing a")}
}

// drifted changes an object of the fixture past Terraform.
func drifted(name string) func(string) error {
	return func(fixture string) error {
		files, err := filepath.Glob(filepath.Join(fixture, "*_thing", "nowhere%2F"+name+".json"))
		if err != nil || len(files) != 1 {
			return fmt.Errorf("no object %s: %v, %w", name, files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			return err
		}
		return os.WriteFile(files[0], []byte(strings.Replace(string(text), "{", `{ "blob": "drifted",`, 1)), 0o600)
	}
}

// existing makes objects past Terraform, of a fixture that is called as given.
func existing(fixture string, names ...string) func(string) error {
	return func(dir string) error {
		dir = filepath.Join(dir, fixture+"_thing")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for _, name := range names {
			text := fmt.Sprintf(`{"id": "nowhere/%[1]s", "uid": "KNOWN%[1]s", "region": "nowhere", "name": %[1]q}`, name)
			if err := os.WriteFile(filepath.Join(dir, "nowhere%2F"+name+".json"), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestNativeRefactoring: blocks that change what the state knows.
func TestNativeRefactoring(t *testing.T) {
	t.Parallel()
	inModule := "module \"m\" {\n  source = \"./m\"\n}\n"
	module := "terraform {\n  required_providers {\n    fx = { source = \"tfweaver/fx\" }\n  }\n}\n"
	tell(t,
		story{
			name: "moved", over: []int{5}, hcl: named("a"), check: ever("fx_thing a", "create done"),
			steps: []step{applies, {
				args: "apply -auto-approve", says: "0 added, 0 changed, 0 destroyed",
				hcl: strings.Replace(named("a"), `"a" {`, `"b" {`, 1) + "moved {\n  from = fx_thing.a\n  to   = fx_thing.b\n}\n",
			}},
		},
		story{
			name: "moved into a module", hcl: inModule + named("a"), files: map[string]string{"m/main.tf": module}, check: ever("fx_thing a", "create done"),
			steps: []step{applies, {
				args: "apply -auto-approve", files: map[string]string{"m/main.tf": module + named("a")}, hcl: inModule + "moved {\n  from = fx_thing.a\n  to   = module.m.fx_thing.a\n}\n",
			}},
		},
		story{
			name: "import", over: []int{6}, check: ever("six_thing a", "update done"),
			hcl:   named("a", "size = 4") + "import {\n  to = fx_thing.a\n  id = \"nowhere/a\"\n}\n",
			steps: []step{{args: "apply -auto-approve", before: existing("six", "a"), says: "1 imported, 0 added, 1 changed"}},
		},
		story{
			name: "import without a change", over: []int{5}, hcl: named("a") + "import {\n  to = fx_thing.a\n  id = \"nowhere/a\"\n}\n",
			steps: []step{{args: "apply -auto-approve", before: existing("five", "a"), says: "1 imported, 0 added, 0 changed"}},
		},
		story{
			name: "import with for_each", over: []int{6}, check: ever("six_thing c", "create done"),
			hcl: `locals { known = toset(["a", "b"]) }
resource "fx_thing" "all" {
  for_each = toset(["a", "b", "c"])
  name     = each.key
}
import {
  for_each = local.known
  to       = fx_thing.all[each.key]
  id       = "nowhere/${each.key}"
}
`,
			steps: []step{{args: "apply -auto-approve", before: existing("six", "a", "b"), says: "2 imported, 1 added"}},
		},
		story{
			name: "import of nothing", hcl: named("a") + "import {\n  to = fx_thing.a\n  id = \"nowhere/a\"\n}\n", ends: 1,
			steps: []step{{args: "apply -auto-approve", code: 1, says: "no such object"}},
		},
		story{
			name: "removed and kept", over: []int{5}, hcl: named("a") + named("b"), check: ever("fx_thing a", "create done"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: named("b") + "removed {\n  from = fx_thing.a\n  lifecycle { destroy = false }\n}\n"}},
		},
		story{
			name: "removed and destroyed", hcl: named("a") + named("b"), check: ever("fx_thing a", "create done", "delete done"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: named("b") + "removed {\n  from = fx_thing.a\n  lifecycle { destroy = true }\n}\n", says: "1 destroyed"}},
		},
	)
}

// TestNativeConditions: what is checked before, after and beside.
func TestNativeConditions(t *testing.T) {
	t.Parallel()
	condition := func(kind, is string) string {
		return fmt.Sprintf("lifecycle {\n  %s {\n    condition     = %s\n    error_message = \"Not as it should be.\"\n  }\n}", kind, is)
	}
	check := func(is string) string {
		return fmt.Sprintf("check \"c\" {\n  assert {\n    condition     = %s\n    error_message = \"Not as it should be.\"\n  }\n}\n", is)
	}
	tell(t,
		story{
			name: "check that fails", over: []int{5}, hcl: named("a") + check(`fx_thing.a.id == "elsewhere"`),
			steps: []step{
				{args: "apply -auto-approve", says: "Warning: Check block assertion failed"},
				{args: "apply -auto-approve", hcl: named("a") + check(`fx_thing.a.id == "nowhere/a"`)},
			},
		},
		story{
			name: "check with data of its own", ends: 2, hcl: named("a") + `check "c" {
  data "fx_thing" "missing" { name = "missing" }
  assert {
    condition     = data.fx_thing.missing.id != ""
    error_message = "It is missing."
  }
}
`,
			steps: []step{{args: "apply -auto-approve", says: "no such object"}},
		},
		story{
			name: "precondition at plan time", hcl: named("a", condition("precondition", `terraform.workspace == "other"`)) + named("b"), ends: 1,
			steps: []step{{args: "apply -auto-approve", code: 1, says: "Resource precondition failed"}},
			check: ever("fx_thing b"),
		},
		story{
			name: "precondition at apply time", over: []int{6}, ends: 1,
			hcl:   named("a") + named("b", condition("precondition", `fx_thing.a.id == "elsewhere"`)),
			steps: []step{{args: "apply -auto-approve", code: 1, says: "Resource precondition failed"}},
			check: ever("fx_thing a", "create done"),
		},
		story{
			name: "postcondition", over: []int{5}, hcl: named("a", condition("postcondition", `self.id == "elsewhere"`)) + named("b", "blob = fx_thing.a.id"),
			steps: []step{
				{args: "apply -auto-approve", code: 1, says: "Resource postcondition failed"},
				{args: "apply -auto-approve", hcl: named("a", condition("postcondition", `self.id == "nowhere/a"`)) + named("b", "blob = fx_thing.a.id")},
			},
			check: ever("fx_thing a", "create done"),
		},
	)
}
