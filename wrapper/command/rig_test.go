// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/identity"
	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestMain(m *testing.M) { os.Exit(plugintest.Main(m)) }

// fakeCLI is a CLI that writes down how it was called, saves what it is told
// to be its plan, and does as the files beside it say.
const fakeCLI = `#!/bin/sh
dir=$(dirname "$0")
printf '%s\n' "$*" >> "$dir/calls"
env | grep -E '^(TF_|TFWEAVER_DEPTH)' | sort > "$dir/env.$1"
case "$1" in
version) echo '{"terraform_version":"1.11.4"}' ;;
plan)
  for a in "$@"; do case "$a" in -out=*) echo plan > "${a#-out=}"; chmod 644 "${a#-out=}"; echo "${a#-out=}" > "$dir/planfile" ;; esac; done
  cat "$dir/plan.out"
  [ -f "$dir/slip" ] && mv "$dir/slip" terraform.tfstate ;;
state) cat "$dir/state.json" ;;
show) cat "$dir/plan.json" ;;
apply|destroy) cat "$dir/apply.out"; [ -f "$dir/apply.err" ] && cat "$dir/apply.err" >&2 && mv "$dir/apply.err" "$dir/apply.once" && exit 1 ;;
*) echo "native $*" ;;
esac
[ -f "$dir/err.$1" ] && cat "$dir/err.$1" >&2
[ -f "$dir/code.$1" ] && exit "$(cat "$dir/code.$1")"
exit 0
`

// rig is an App among fakes: a script for a CLI, the test binary for a
// provider, and a coordinator of its own.
type rig struct {
	*App
	cli, work      string
	stdout, stderr *bytes.Buffer
	signals        chan os.Signal
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func newRig(t *testing.T, args ...string) *rig {
	t.Helper()
	r := &rig{cli: t.TempDir(), work: t.TempDir(), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, signals: make(chan os.Signal, 1)}
	write(t, filepath.Join(r.cli, "terraform"), fakeCLI, 0o700)
	write(t, filepath.Join(r.cli, "plan.out"), "the plan\n", 0o600)
	write(t, filepath.Join(r.cli, "apply.out"), "the apply\n", 0o600)
	write(t, filepath.Join(r.cli, "plan.json"), planJSON(true), 0o600)
	env := arguments.Environment{
		"PATH=" + r.cli + ":" + os.Getenv("PATH"), "HOME=" + r.work, "TFWEAVER_ACTOR=tester",
		"TF_CLI_CONFIG_FILE=" + filepath.Join(r.work, "none"),
	}
	// What the fixture needs, without the environment of the tests around it.
	env = append(env, plugintest.Env(6, "")[len(os.Environ()):]...)
	r.App = &App{
		Args: args, Env: env, Dir: r.work, Self: "/nonexistent/tfweaver",
		Stdin: strings.NewReader(""), Stdout: r.stdout, Stderr: r.stderr,
		System: identity.System{User: "tester", Host: "desk"}, Signals: r.signals, Now: time.Now,
		Replace: func(path string, args, _ []string) (int, error) {
			fmt.Fprintln(r.stdout, "replaced by", path, strings.Join(args, " "))
			return 7, nil
		},
	}
	return r
}

// planJSON is the form of a plan that creates one object of the fixture.
func planJSON(applyable bool) string {
	text, _ := json.Marshal(map[string]any{
		"format_version": "1.2", "terraform_version": "1.11.4", "applyable": applyable,
		"resource_changes": []any{map[string]any{
			"address": "fixture_thing.a", "mode": "managed", "type": "fixture_thing", "name": "a", "provider_name": plugintest.Source,
			"change": map[string]any{"actions": []string{"create"}, "before": nil, "after": map[string]any{"name": "a"}, "after_unknown": map[string]any{"id": true}},
		}},
	})
	return string(text)
}

// install puts the fixture provider where "terraform init" would.
func (r *rig) install(t *testing.T) {
	t.Helper()
	platform := plugins.Current()
	dir := filepath.Join(r.work, ".terraform", "providers", plugintest.Source, "1.0.0", platform.String())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(plugintest.Executable(t), filepath.Join(dir, "terraform-provider-fixture_v1.0.0")); err != nil {
		if err := os.Symlink(plugintest.Executable(t), filepath.Join(dir, "terraform-provider-fixture_v1.0.0")); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := dirhash.HashDir(dir, "", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.work, ".terraform.lock.hcl"),
		fmt.Sprintf("provider %q {\n  version = \"1.0.0\"\n  hashes = [%q]\n}\n", plugintest.Source, hash), 0o600)
}

// coordinator serves one for the rig until the test ends.
func (r *rig) coordinator(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "tfc") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	address := "unix://" + filepath.Join(dir, "s")
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		ended <- server.Run(ctx, server.Config{
			Listen: address, Dir: filepath.Join(dir, "journal"), Version: "test",
			Ready: func(string, uint64) error { once.Do(func() { close(ready) }); return nil },
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the coordinator: %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	select {
	case <-ready:
	case <-time.After(30 * time.Second):
		t.Fatal("the coordinator does not start")
	}
	r.Env = r.Env.With("TFWEAVER_COORDINATOR", address)
}

// complete is a rig with everything.
func complete(t *testing.T, args ...string) *rig {
	t.Helper()
	r := newRig(t, args...)
	r.install(t)
	r.coordinator(t)
	return r
}

// calls is how the CLI was called, with the name of the plan file replaced.
func (r *rig) calls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.cli, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := os.ReadFile(filepath.Join(r.cli, "planfile"))
	all := string(text)
	if name := strings.TrimSpace(string(plan)); name != "" {
		all = strings.ReplaceAll(all, filepath.Dir(name), "PRIVATE")
	}
	return strings.Split(strings.TrimSpace(all), "\n")
}

// envOf is the environment that the CLI had in its last call of a command.
func (r *rig) envOf(t *testing.T, command string) arguments.Environment {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.cli, "env."+command))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
