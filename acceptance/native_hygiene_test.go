// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// hygieneBefore is a state of all kinds of instances, and hygieneAfter a
// configuration whose plan does something to each of them.
const (
	hygieneBefore = `
resource "FX_thing" "updated" {
  name = "updated"
  size = 1
}

resource "FX_thing" "deleted" {
  name   = "deleted"
  secret = "hush"
}

resource "FX_thing" "replaced" {
  name = "replaced"
  kind = "x"
}

resource "FX_thing" "renewed" {
  name = "renewed"
  lifecycle { create_before_destroy = true }
}
`
	hygieneAfter = `
resource "FX_thing" "updated" {
  name = "updated"
  size = 2
}

resource "FX_thing" "replaced" {
  name = "replaced"
  kind = "y"
}

resource "FX_thing" "renewed" {
  name = "renewed-now"
  lifecycle { create_before_destroy = true }
}

resource "FX_thing" "created" {
  name             = "created"
  secret           = "hush"
  password         = "open-sesame"
  password_version = 1
}
`
)

// TestHygieneOfRefusedChanges: what is refused is in the state as it was, with
// what the provider keeps there for itself, so that plain Terraform can do later
// what tfweaver would not.
func TestHygieneOfRefusedChanges(t *testing.T) {
	t.Parallel()
	for _, fixture := range []string{"five", "six"} {
		t.Run(fixture, func(t *testing.T) {
			t.Parallel()
			a := newAddresses(t, fixture)
			w := a.of("bob", hygieneBefore, nil)
			a.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			before := instances(t, w)
			if !strings.Contains(before, `{"mark":`) {
				t.Fatalf("the provider keeps nothing for itself:\n%s", before)
			}
			holder := a.hold()
			a.configure(w, hygieneAfter)
			a.terraform(w, 0, "plan", "-out=p", "-no-color")
			run := a.tfweaver(w, 1, "apply", "-no-color", "-weaver-wait=0s", "p")
			for _, name := range []string{"updated", "deleted", "replaced", "renewed", "created"} {
				if !strings.Contains(unwrapped(run.Said()), fixture+"_thing."+name) {
					t.Errorf("nothing is said of %s", name)
				}
			}
			if diff := cmp.Diff(before, instances(t, w)); diff != "" {
				t.Errorf("the state was (-), and is after the refusals (+):\n%s", diff)
			}
			a.letGo(holder)
			// The fixture updates nothing whose private data are not its own.
			a.terraform(w, 0, "apply", "-auto-approve", "-no-color")
			a.unchanged(w)
		})
	}
}

// instances is the state of a workspace as text, without what counts writes.
func instances(t *testing.T, w *lab.Workspace) string {
	t.Helper()
	drawn := &drawing{known: make(map[string]string)}
	text, err := json.MarshalIndent(drawn.state(stateText(t, w)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	// Private data are JSON in a text of JSON.
	return strings.ReplaceAll(string(text), `\"`, `"`)
}

// TestHygieneOfPlanFiles: a plan made under tfweaver is the plan that plain
// Terraform makes, and has nothing of tfweaver's.
func TestHygieneOfPlanFiles(t *testing.T) {
	t.Parallel()
	for _, fixture := range []string{"five", "six"} {
		t.Run(fixture, func(t *testing.T) {
			t.Parallel()
			a := newAddresses(t, fixture)
			w := a.of("bob", hygieneBefore, nil)
			a.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
			a.configure(w, hygieneAfter)
			a.terraform(w, 0, "plan", "-out=plain.tfplan", "-no-color")
			a.tfweaver(w, 0, "plan", "-out=woven.tfplan", "-no-color")
			plain, woven := a.planOf(w, "plain.tfplan"), a.planOf(w, "woven.tfplan")
			if len(plain["resource_changes"].([]any)) != 5 { //nolint:forcetypeassert // a test
				t.Errorf("the plan is not that which was meant: %v", plain["resource_changes"])
			}
			if diff := cmp.Diff(plain, woven); diff != "" {
				t.Errorf("the plan of plain Terraform (-) and of tfweaver (+):\n%s", diff)
			}
			for name, text := range zipped(t, filepath.Join(w.Dir, "woven.tfplan")) {
				if bytes.Contains(bytes.ToLower(text), []byte("weaver_")) {
					t.Errorf("there is something of tfweaver's in %s of the plan file", name)
				}
			}
			a.terraform(w, 0, "apply", "-no-color", "woven.tfplan")
			a.unchanged(w)
		})
	}
}

// planOf is a plan file as plain Terraform shows it, without when it was made.
func (a *addresses) planOf(w *lab.Workspace, file string) map[string]any {
	a.t.Helper()
	var plan map[string]any
	if err := json.Unmarshal([]byte(a.terraform(w, 0, "show", "-json", file).Stdout()), &plan); err != nil {
		a.t.Fatal(err)
	}
	delete(plan, "timestamp")
	return plan
}

// zipped are the files in an archive.
func zipped(t *testing.T, path string) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // only read
	all := make(map[string][]byte)
	for _, file := range archive.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if all[file.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		in.Close() //nolint:errcheck // only read
	}
	return all
}
