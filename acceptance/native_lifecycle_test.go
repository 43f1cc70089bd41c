// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNativeProvisioners: they run in the apply half alone, and once.
func TestNativeProvisioners(t *testing.T) {
	t.Parallel()
	run := func(when, onFailure, command string) string {
		return fmt.Sprintf("provisioner \"local-exec\" {\n    when       = %s\n    on_failure = %s\n    command    = %q\n  }", when, onFailure, command)
	}
	tell(t,
		story{
			name: "create and destroy", over: []int{5}, ends: 2,
			hcl:   named("a", run("create", "fail", "echo made >> $FIXTURE_DIR/said"), run("destroy", "fail", "echo gone >> $FIXTURE_DIR/said")),
			steps: []step{applies, {args: "destroy -auto-approve", says: "1 destroyed"}},
			check: both(func(s *told, one *side) {
				if said := s.sight(one).Objects["said"]; said != "made\ngone\n" {
					s.t.Errorf("%s: the provisioners have said %q", one.Actor, said)
				}
			}),
		},
		story{
			name: "fails and that is accepted", hcl: named("a", run("create", "continue", "exit 3")), steps: []step{applies},
		},
		story{
			name: "fails", over: []int{6}, hcl: named("a", run("create", "fail", "exit 3")),
			steps: []step{
				{args: "apply -auto-approve", code: 1, says: "local-exec provisioner error"},
				{args: "apply -auto-approve", hcl: named("a"), says: "fx_thing.a is tainted, so must be replaced"},
			},
			check: ever("fx_thing a", "create done", "delete done", "create done"),
		},
		story{
			name: "fails before a destroy", hcl: named("a", run("destroy", "fail", "test -e $FIXTURE_DIR/may_thing")), ends: 2,
			steps: []step{
				applies,
				{args: "destroy -auto-approve", code: 1, says: "local-exec provisioner error"},
				{args: "destroy -auto-approve", before: existing("may", "a")},
			},
		},
	)
}

// TestNativeLifecycle: what is destroyed and made in which order.
func TestNativeLifecycle(t *testing.T) {
	t.Parallel()
	first := "lifecycle { create_before_destroy = true }"
	renamed := func(name string, body ...string) string {
		return strings.Replace(named("a", body...), `= "a"`, fmt.Sprintf("= %q", name), 1)
	}
	tell(t,
		story{
			name: "replace by its own change", over: []int{5, 6}, hcl: named("a", `kind = "x"`) + named("b", "blob = fx_thing.a.uid"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: named("a", `kind = "y"`) + named("b", "blob = fx_thing.a.uid"), says: "1 added, 1 changed, 1 destroyed"}},
			check: ever("fx_thing a", "create done", "delete done", "create done"),
		},
		story{
			name: "create before destroy", over: []int{5, 6}, hcl: renamed("a", first) + named("b", "blob = fx_thing.a.id"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: renamed("c", first) + named("b", "blob = fx_thing.a.id")}},
			check: oneAfterAnother("create c", "update b", "delete a"),
		},
		story{
			name: "deposed by a create that failed", over: []int{5, 6}, hcl: renamed("a", first),
			steps: []step{
				applies,
				{args: "apply -auto-approve", hcl: renamed("c", first, `fault = "half"`), code: 1, says: "Half a thing"},
				{args: "apply -auto-approve", hcl: renamed("d", first), says: "(deposed object"},
			},
			check: ever("fx_thing a", "create done", "delete done"),
		},
		story{
			name: "deposed by a delete that failed", over: []int{5}, hcl: renamed("a", first, `fault = "error-delete"`),
			steps: []step{
				applies,
				{args: "apply -auto-approve", hcl: renamed("c", first), code: 1, says: "Out of things"},
				{args: "apply -auto-approve", before: faultless, says: "1 destroyed"},
			},
			check: ever("fx_thing a", "create done", "delete failed", "delete done"),
		},
		story{
			name: "create that failed", over: []int{5}, hcl: named("a", `fault = "error"`) + named("b"),
			steps: []step{
				{args: "apply -auto-approve", code: 1, says: "Out of things"},
				{args: "apply -auto-approve", hcl: named("a") + named("b"), says: "1 added"},
			},
			check: ever("fx_thing a", "create failed", "create done"),
		},
		story{
			name: "create that was half done", over: []int{5, 6}, hcl: named("a", `fault = "half"`) + named("b"),
			steps: []step{
				{args: "apply -auto-approve", code: 1, says: "Half a thing"},
				{args: "apply -auto-approve", hcl: named("a") + named("b"), says: "fx_thing.a is tainted, so must be replaced"},
			},
			check: ever("fx_thing a", "create failed", "delete done", "create done"),
		},
		story{
			name: "update and delete that failed", over: []int{6}, hcl: named("a", "size = 1"),
			steps: []step{
				applies,
				{args: "apply -auto-approve", hcl: named("a", "size = 2", `fault = "error"`), code: 1, says: "Out of things"},
				{args: "apply -auto-approve", hcl: named("a", "size = 3", `fault = "error-delete"`)},
				{args: "destroy -auto-approve", code: 1, says: "Out of things"},
				{args: "apply -auto-approve", hcl: named("a", "size = 3")},
			},
		},
		story{
			name: "prevent destroy", hcl: named("a", `kind = "x"`, "lifecycle { prevent_destroy = true }"), check: ever("fx_thing a", "create done"),
			steps: []step{
				applies,
				{args: "destroy -auto-approve", code: 1, says: "Instance cannot be destroyed"},
				{args: "apply -auto-approve -replace=fx_thing.a", code: 1, says: "Instance cannot be destroyed"},
			},
		},
		story{
			name: "ignore changes", hcl: named("a", `blob = "x"`, "size = 1", "lifecycle { ignore_changes = [blob] }"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: named("a", `blob = "y"`, "size = 2", "lifecycle { ignore_changes = [blob] }"), says: "1 changed"}},
		},
		story{
			name: "replaced by another's change", over: []int{5},
			hcl:   "resource \"terraform_data\" \"t\" { input = 1 }\n" + named("a", "lifecycle { replace_triggered_by = [terraform_data.t] }"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: "resource \"terraform_data\" \"t\" { input = 2 }\n" + named("a", "lifecycle { replace_triggered_by = [terraform_data.t] }")}},
			check: ever("fx_thing a", "create done", "delete done", "create done"),
		},
		story{
			name: "nothing to do", hcl: named("a"),
			steps: []step{applies, {args: "apply -auto-approve", says: "No changes. Your infrastructure matches the configuration."}},
			check: ever("fx_thing a", "create done"),
		},
		story{
			name: "outputs only", hcl: named("a"),
			steps: []step{applies, {args: "apply -auto-approve", hcl: named("a") + "output \"o\" { value = fx_thing.a.id }\n", says: `o = "nowhere/a"`}},
		},
	)
}

// faultless lets the deletes go well that were to fail, past Terraform.
func faultless(fixture string) error {
	files, err := filepath.Glob(filepath.Join(fixture, "*_thing", "*.json"))
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		mended := strings.ReplaceAll(string(text), "error-delete", "none")
		err = errors.Join(err, readErr, os.WriteFile(file, []byte(mended), 0o600))
	}
	return err
}

// oneAfterAnother: the changes have begun in this order.
func oneAfterAnother(want ...string) func(*told) {
	return both(func(s *told, one *side) {
		var got []string
		for _, e := range s.events(one) {
			if begun := e.What + " " + e.Name; e.IsChange() && slices.Contains(want, begun) {
				got = append(got, begun)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			s.t.Errorf("%s: the order is not that which was meant (-), but (+):\n%s", one.Actor, diff)
		}
	})
}
