// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// limit is how long the tests may take to find one fault.
const limit = 2 * time.Minute

// usual are the faults that plain go test tries: the classics, each found by
// the explorer within a second or two.
var usual = []string{
	"absent_ignored", "barging", "free_on_expiry", "guards_at_submit_only", "no_wakeup_on_failure", "queued_holds",
}

// mutant is one seeded fault.
type mutant struct {
	name, what, pkg, run string
	seed                 string // where the search for it begins; empty for the usual place
	patch                []byte
}

func TestMutantsAreKilled(t *testing.T) {
	t.Parallel()
	list := load(t)
	root := filepath.Join("..", "..", "..")
	if out, err := goTest(t, copyCore(t, root), "./internal/core/explore", "^$"); err != nil {
		t.Fatalf("the copy does not build: %v\n%s", err, out)
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			dir := copyCore(t, root)
			apply(t, dir, m.patch)
			start := time.Now()
			out, err := goTest(t, dir, "./internal/core/"+m.pkg, m.run, "RUNS_SEED="+m.seed)
			killer := failed(t, out)
			if err == nil || killer == "" {
				t.Fatalf("survived: %s\n%s", m.what, out)
			}
			t.Logf("killed by %s in %.1fs: %s", killer, time.Since(start).Seconds(), m.what)
		})
	}
}

// load reads the patches that the environment asks for.
func load(t *testing.T) []mutant {
	t.Helper()
	files, err := filepath.Glob("*.patch")
	if err != nil || len(files) == 0 {
		t.Fatalf("no patches: %v", err)
	}
	asked := os.Getenv("MUTANTS")
	var list []mutant
	for _, f := range files {
		m := parse(t, f)
		if asked == "all" || asked == m.name || asked == "" && slices.Contains(usual, m.name) {
			list = append(list, m)
		}
	}
	if asked == "" && len(list) != len(usual) || len(list) == 0 {
		t.Fatalf("MUTANTS=%q finds %d patches", asked, len(list))
	}
	return list
}

func parse(t *testing.T, file string) mutant {
	t.Helper()
	patch, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := mutant{name: strings.TrimSuffix(file, ".patch"), patch: patch}
	for line := range strings.Lines(string(patch)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Mutant":
			m.what = value
		case "Package":
			m.pkg = value
		case "Run":
			m.run = value
		case "Seed":
			m.seed = value
		case "":
			if m.what == "" || m.pkg == "" || m.run == "" {
				t.Fatalf("%s does not say what it is, and who finds it", file)
			}
			return m
		}
	}
	t.Fatalf("%s has no end to its head", file)
	return m
}

// copyCore makes a module of the core alone.
func copyCore(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join(root, f), filepath.Join(dir, f))
	}
	core := filepath.Join(root, "internal", "core")
	err := filepath.WalkDir(core, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "mutants":
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err == nil {
			copyFile(t, path, filepath.Join(dir, rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// apply puts the fault in. A patch that no longer fits has to be made anew.
func apply(t *testing.T, dir string, patch []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "apply", "-p1", "-")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_DIR=")
	cmd.Stdin = bytes.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the patch does not fit the code any more: %v\n%s", err, out)
	}
}

// goTest runs tests and returns their events.
func goTest(t *testing.T, dir, pkg, run string, env ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-failfast", "-vet=off", "-trimpath", "-p", "2", "-run", run, pkg)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "EXPLORE_BUDGET=1", "GOWORK=off"), env...)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return out, errors.Join(ctx.Err(), err)
	}
	return out, err
}

// failed is the first test that failed. A copy that does not build is no kill.
func failed(t *testing.T, events []byte) string {
	t.Helper()
	killer := ""
	for d := json.NewDecoder(bytes.NewReader(events)); ; {
		var e struct{ Action, Package, Test string }
		if err := d.Decode(&e); err != nil {
			return killer
		}
		if e.Action == "build-fail" {
			t.Fatalf("the fault does not build:\n%s", events)
		}
		if e.Action == "fail" && e.Test != "" && killer == "" {
			killer = filepath.Base(e.Package) + "." + e.Test
		}
	}
}
