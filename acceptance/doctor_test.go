// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// diagnosis is what the doctor says in a workspace.
func (b *bench) diagnosis(w *lab.Workspace, code int) map[string]views.Check {
	b.t.Helper()
	run := b.tfweaver(w, code, "doctor", "-json")
	var d views.Diagnosis
	if err := json.Unmarshal([]byte(run.Stdout()), &d); err != nil {
		b.t.Fatal(err)
	}
	checks := map[string]views.Check{}
	for _, c := range d.Checks {
		checks[c.Group+"/"+c.Name] = c
	}
	return checks
}

// TestDoctorBeforeAndAfterARun: with the real CLI and provider; it starts nothing
// where nothing runs, and finds the coordinator that a run has started.
func TestDoctorBeforeAndAfterARun(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alice", group())
	checks := b.diagnosis(w, 0)
	for name, c := range checks {
		if c.Level != views.Fine {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if cli := checks["Programs/CLI"]; cli.Facts["version"] != shared.CLI.Version || cli.Facts["product"] != shared.CLI.Product {
		t.Errorf("the CLI is %s: %+v", shared.CLI, cli)
	}
	if checks["Providers/simcloud"].Facts["path"] == "" || checks["Rules/types"].Found == "" {
		t.Errorf("provider or types are not found: %+v", checks)
	}
	if _, err := os.Stat(b.StateDir()); err == nil {
		t.Error("the doctor has made the state folder")
	}
	if log := b.log(); len(log.Operations)+len(log.NoOps)+len(log.Refused) != 0 {
		t.Error("the doctor has asked the cloud")
	}
	b.tfweaver(w, 0, "apply", "-auto-approve")
	if c := b.diagnosis(w, 0)["Coordination/coordinator"]; c.Facts["protocol"] == "" || c.Facts["embedded"] != "true" {
		t.Errorf("the coordinator is not found: %+v", c)
	}
}

// TestDoctorOfATamperedProvider: what would stop a run fails here.
func TestDoctorOfATamperedProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alice", group())
	lock := filepath.Join(w.Dir, ".terraform.lock.hcl")
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	if c := b.diagnosis(w, 0)["Providers/simcloud"]; c.Level != views.Fine {
		t.Errorf("the provider as it was installed: %+v", c)
	}
	if err := w.Write(".terraform.lock.hcl", strings.Replace(string(text), "h1:", "h1:0", 1)); err != nil {
		t.Fatal(err)
	}
	if c := b.diagnosis(w, 1)["Providers/simcloud"]; c.Level != views.Failing || c.Remedy == "" {
		t.Errorf("the provider: %+v", c)
	}
	b.tfweaver(w, 78, "plan")
}
