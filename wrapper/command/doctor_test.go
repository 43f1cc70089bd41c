// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
	"github.com/tfweaver/tfweaver/wrapper/scratch"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const doctored = `terraform {
  required_providers {
    fixture = { source = "` + plugintest.Source + `" }
  }
}
resource "fixture_thing" "a" {}
`

// newPatient is a rig in whose folder all is well.
func newPatient(t *testing.T, args ...string) *rig {
	t.Helper()
	r := newRig(t, append([]string{"doctor", "-json"}, args...)...)
	write(t, filepath.Join(r.cli, "terraform"), "#!/bin/sh\necho '{\"terraform_version\":\"1.11.4\",\"platform\":\"x\",\"terraform_outdated\":false}'\n", 0o700)
	write(t, filepath.Join(r.work, "main.tf"), doctored, 0o600)
	r.install(t)
	r.coordinator(t)
	return r
}

// consult runs the doctor and checks that nothing was changed by it.
func (r *rig) consult(t *testing.T, code int) views.Diagnosis {
	t.Helper()
	before := inventory(t, r.work)
	r.run(t, code)
	if diff := cmp.Diff(before, inventory(t, r.work)); diff != "" {
		t.Errorf("the folder was changed (-before +after):\n%s", diff)
	}
	var d views.Diagnosis
	if err := json.Unmarshal(r.stdout.Bytes(), &d); err != nil {
		t.Fatalf("%v in %s%s", err, r.stdout, r.stderr)
	}
	for _, c := range d.Checks {
		if (c.Level != views.Fine) == (c.Remedy == "") || c.Found == "" || c.Group == "" || c.Name == "" {
			t.Errorf("level and remedy do not go together: %+v", c)
		}
	}
	if (d.Failures > 0) != (code != 0) {
		t.Errorf("%d failures, exit code %d", d.Failures, code)
	}
	return d
}

// inventory is what lies below a folder: names, sizes and times of change.
func inventory(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			out[path] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// of are the checks of a name.
func of(d views.Diagnosis, name string) (list []views.Check) {
	for _, c := range d.Checks {
		if c.Name == name {
			list = append(list, c)
		}
	}
	return list
}

func TestDoctorOfTheHealthy(t *testing.T) {
	t.Parallel()
	r := newPatient(t)
	r.Env = r.Env.With("TF_DATA_DIR", ".terraform")
	d := r.consult(t, 0)
	levels := map[string]views.Level{}
	for _, c := range d.Checks {
		levels[c.Name] = c.Level
	}
	for _, name := range []string{"tfweaver", "CLI", "configuration", "state", "lock file", "fixture", "simcloud", "settings", "mode", "coordinator", "actor"} {
		if levels[name] != views.Fine {
			t.Errorf("%s is %q: %+v", name, levels[name], of(d, name))
		}
	}
	cli := of(d, "CLI")[0]
	want := map[string]string{"path": filepath.Join(r.cli, "terraform"), "product": "Terraform", "version": "1.11.4"}
	if diff := cmp.Diff(want, cli.Facts); diff != "" {
		t.Errorf("the CLI (-want +got):\n%s", diff)
	}
	if types := of(d, "types"); len(types) != 1 || types[0].Level != views.Doubtful || !strings.Contains(types[0].Found, "fixture_thing") {
		t.Errorf("types without rules: %+v", types)
	}
	if calls, err := os.ReadFile(filepath.Join(r.cli, "calls")); err == nil {
		t.Errorf("the CLI was called: %s", calls)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm  func(t *testing.T, r *rig)
		check string
		level views.Level
		says  []string
	}{
		"no CLI": {func(_ *testing.T, r *rig) { r.Env = r.Env.With("PATH", "/nonexistent") }, "CLI", views.Failing, []string{"found", "TFWEAVER_TERRAFORM"}},
		"a CLI that does not answer": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.cli, "terraform"), "#!/bin/sh\necho no version is set >&2\nexit 1\n", 0o700)
		}, "CLI", views.Failing, []string{"no version is set"}},
		"a damaged CLI": {func(t *testing.T, r *rig) { write(t, filepath.Join(r.cli, "terraform"), "\x7fELF", 0o700) }, "CLI", views.Failing, []string{"damaged"}},
		"an old CLI": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.cli, "terraform"), "#!/bin/sh\necho '{\"terraform_version\":\"1.1.0\"}'\n", 0o700)
		}, "CLI", views.Doubtful, []string{"1.1.0", "Install"}},
		"an empty folder": {func(t *testing.T, r *rig) {
			for _, name := range []string{"main.tf", ".terraform.lock.hcl"} {
				if err := os.Remove(filepath.Join(r.work, name)); err != nil {
					t.Fatal(err)
				}
			}
		}, "configuration", views.Doubtful, []string{"no *.tf", "-chdir"}},
		"a mistake in the configuration": {func(t *testing.T, r *rig) { write(t, filepath.Join(r.work, "bad.tf"), "\nresource {", 0o600) }, "configuration", views.Failing, []string{"bad.tf:2", "validate"}},
		"no init": {func(t *testing.T, r *rig) {
			if err := os.Remove(filepath.Join(r.work, ".terraform.lock.hcl")); err != nil {
				t.Fatal(err)
			}
		}, "lock file", views.Doubtful, []string{"tfweaver init"}},
		"a broken lock file": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.work, ".terraform.lock.hcl"), "provider {", 0o600)
		}, "lock file", views.Failing, []string{"init"}},
		"a provider that is not installed": {func(t *testing.T, r *rig) {
			if err := os.RemoveAll(filepath.Join(r.work, ".terraform")); err != nil {
				t.Fatal(err)
			}
		}, "fixture", views.Failing, []string{"not installed", "tfweaver init"}},
		"a tampered provider": {func(t *testing.T, r *rig) {
			lock := filepath.Join(r.work, ".terraform.lock.hcl")
			text, err := os.ReadFile(lock)
			if err != nil {
				t.Fatal(err)
			}
			write(t, lock, strings.Replace(string(text), "h1:", "h1:X", 1), 0o600)
		}, "fixture", views.Failing, []string{"does not match", "init"}},
		"a provider that is not in the lock file": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.work, "more.tf"), "resource \"aws_instance\" \"x\" {}\n", 0o600)
		}, "required", views.Doubtful, []string{"hashicorp/aws", "init"}},
		"another backend": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.work, "more.tf"), "terraform {\n  backend \"s3\" {}\n}\n", 0o600)
		}, "state", views.Doubtful, []string{`"s3"`, `"local"`, "init"}},
		"broken settings": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.work, ".tfweaver.hcl"), "\nmode = \"strict\"\n", 0o600)
		}, "settings", views.Failing, []string{".tfweaver.hcl:2", "Correct"}},
		"a mode of the settings": {func(t *testing.T, r *rig) {
			write(t, filepath.Join(r.work, ".tfweaver.hcl"), "\n\nmode = \"observe\"\n", 0o600)
		}, "mode", views.Doubtful, []string{"observe", ".tfweaver.hcl:3"}},
		"a broken pack": {func(t *testing.T, r *rig) {
			packs := t.TempDir()
			write(t, filepath.Join(packs, "p.hcl"), "pack \"x\" {\n  nothing", 0o600)
			r.Env = r.Env.With("TFWEAVER_RULES", packs)
		}, "packs", views.Failing, []string{"p.hcl:2", "TFWEAVER_RULES"}},
		"no coordinator at its address": {func(_ *testing.T, r *rig) { r.Env = r.Env.With("TFWEAVER_COORDINATOR", "unix:///nonexistent/s") }, "coordinator", views.Failing, []string{"unix:///nonexistent/s", "tfweaver serve"}},
		"no token":                      {func(_ *testing.T, r *rig) { r.Env = r.Env.With("TFWEAVER_COORDINATOR", "tcp://127.0.0.1:1") }, "token", views.Failing, []string{"TFWEAVER_TOKEN"}},
		"CI with nothing shared": {func(_ *testing.T, r *rig) {
			r.Env = r.Env.Without("TFWEAVER_COORDINATOR").With("CI", "true")
		}, "coordinator", views.Failing, []string{"CI is set", ".tfweaver.hcl"}},
		"switched off": {func(_ *testing.T, r *rig) { r.Env = r.Env.With("TFWEAVER_OFF", "1") }, "switched off", views.Doubtful, []string{"TFWEAVER_OFF"}},
		"an override": {func(t *testing.T, r *rig) {
			config := filepath.Join(t.TempDir(), "rc")
			write(t, config, "provider_installation {\n  dev_overrides {\n    \""+plugintest.Source+"\" = \"/nonexistent\"\n  }\n}\n", 0o600)
			r.Env = r.Env.With("TF_CLI_CONFIG_FILE", config)
		}, "dev_overrides", views.Failing, []string{"/nonexistent"}},
		"a CLI configuration that is not there": {func(_ *testing.T, r *rig) { r.Env = r.Env.With("TF_CLI_CONFIG_FILE", "/nonexistent/rc") }, "CLI settings", views.Doubtful, []string{"TF_CLI_CONFIG_FILE names /nonexistent/rc", "no such file", "unset"}},
		"a broken reattachment":                 {func(_ *testing.T, r *rig) { r.Env = r.Env.With("TF_REATTACH_PROVIDERS", "{") }, "reattach", views.Failing, []string{"TF_REATTACH_PROVIDERS"}},
		"no home":                               {func(_ *testing.T, r *rig) { r.Env = r.Env.Without("HOME") }, "CLI", views.Fine, nil},
		"no folder":                             {func(_ *testing.T, r *rig) { r.Args = append([]string{"-chdir=/dev/null/none"}, r.Args...) }, "folder", views.Failing, []string{"/dev/null/none", "-chdir"}},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		tt := tests[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPatient(t)
			tt.harm(t, r)
			code := 0
			if tt.level == views.Failing {
				code = ExitError
			}
			found := of(r.consult(t, code), tt.check)
			if len(found) == 0 {
				t.Fatalf("%s was not looked at:\n%s", tt.check, r.stdout)
			}
			if found[0].Level != tt.level {
				t.Errorf("%+v", found[0])
			}
			for _, words := range tt.says {
				if !strings.Contains(found[0].Found+" "+found[0].Remedy, words) {
					t.Errorf("%q is not said: %+v", words, found[0])
				}
			}
		})
	}
}

// TestDoctorFindsFullDisks: what a run could not write is a failure, and what nobody
// knows is none.
func TestDoctorFindsFullDisks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		free  uint64
		known bool
		level views.Level
	}{
		"full": {scratch.Room - 1, true, views.Failing}, "roomy": {scratch.Room, true, views.Fine}, "unknown": {0, false, views.Fine},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &doctor{app: &App{}, free: func(string) (uint64, bool) { return tt.free, tt.known }}
			d.place("temporary", t.TempDir())
			d.state(embedded.Place{Dir: t.TempDir(), Size: -1})
			if len(d.Checks) != 2 {
				t.Fatalf("%+v", d.Checks)
			}
			for _, c := range d.Checks {
				if c.Level != tt.level || tt.level == views.Failing && !strings.Contains(c.Found+c.Remedy, "no room") {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// TestDoctorSaysRemediesOnce: what to do is not part of what was found.
func TestDoctorSaysRemediesOnce(t *testing.T) {
	t.Parallel()
	d := &doctor{app: &App{}, free: freeBytes}
	d.state(embedded.Place{Trouble: &embedded.StartError{Reason: "the state folder /s cannot be written by you (read-only file system): set XDG_STATE_HOME to a folder of your own"}})
	c := d.Checks[0]
	if strings.Contains(c.Found, "set XDG_STATE_HOME") || c.Remedy != "Set XDG_STATE_HOME to a folder of your own." || !strings.Contains(c.Found, "read-only") {
		t.Errorf("%+v", c)
	}
}

// TestDoctorKeepsSecrets: nothing of a token is shown, wherever it comes from.
func TestDoctorKeepsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "0f5a9e-secret-of-the-token"
	file := filepath.Join(t.TempDir(), "token")
	write(t, file, secret, 0o600)
	for _, env := range []map[string]string{
		{"TFWEAVER_TOKEN": secret},
		{"TFWEAVER_TOKEN_FILE": file},
		{"TFWEAVER_TOKEN": secret + " with blanks"},
		{"TFWEAVER_RUN_URL": "https://me:" + secret + "@example.test/run"},
	} {
		for _, form := range []string{"-json", "-json=false"} {
			r := newPatient(t, form)
			for name, value := range env {
				r.Env = r.Env.With(name, value)
			}
			r.Env = r.Env.With("TFWEAVER_COORDINATOR", "tcp://127.0.0.1:1")
			r.run(t, ExitError)
			if said := r.stdout.String() + r.stderr.String(); strings.Contains(said, secret) || !strings.Contains(said, "127.0.0.1:1") {
				t.Errorf("%v: %s", env, said)
			}
		}
	}
}

// TestDoctorForPeople has the same content in another form.
func TestDoctorForPeople(t *testing.T) {
	t.Parallel()
	r := newPatient(t, "-json=false")
	r.Env = r.Env.With("TFWEAVER_MODE", "observe")
	r.run(t, 0)
	for _, words := range []string{"\nPrograms\n", "  ok    CLI", "  warn  mode", "→ Use -weaver-mode=enforce", "Nothing fails; "} {
		if !strings.Contains(r.stdout.String(), words) {
			t.Errorf("%q is not in\n%s", words, r.stdout)
		}
	}
	if strings.Contains(r.stdout.String(), "\x1b") || r.stderr.Len() > 0 {
		t.Errorf("colours where there is no terminal, or errors: %q", r.stderr)
	}
}
