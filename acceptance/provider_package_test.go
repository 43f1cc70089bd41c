// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// packageOf is the folder of a provider's package below the data folder.
func packageOf(b *bench, w *lab.Workspace, provider, version string) string {
	return filepath.Join(w.Dir, ".terraform", "providers", b.Lab.CLI.RegistryHost(), "tfweaver", provider, version, runtime.GOOS+"_"+runtime.GOARCH)
}

// ownPackage makes the package of a provider one of the workspace alone: init
// links it to the mirror. It returns the folder and the program.
func ownPackage(b *bench, w *lab.Workspace, provider string) (dir, program string) {
	b.t.Helper()
	dir = packageOf(b, w, provider, lab.ProviderVersion)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	if real != dir {
		if err := os.Remove(dir); err != nil {
			b.t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(real)); err != nil {
			b.t.Fatal(err)
		}
	}
	programs, err := filepath.Glob(filepath.Join(dir, "terraform-provider-*"))
	if err != nil || len(programs) != 1 {
		b.t.Fatalf("programs %v, %v", programs, err)
	}
	if err := os.Chmod(programs[0], 0o700); err != nil {
		b.t.Fatal(err)
	}
	return dir, programs[0]
}

// impostor replaces a program by one that leaves a mark when it is started, and
// returns the mark.
func impostor(t *testing.T, program string) (mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "started")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return mark
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// oneThing is a workspace with one thing of the provider six.
func oneThing(b *bench, actor string) *lab.Workspace {
	b.t.Helper()
	return b.workspaceOf(b.FixtureWorkspace(b.ctx, actor, "resource \"six_thing\" \"x\" {\n  name = \"x\"\n}\n"))
}

// TestTamperedProvider: what is not the package of the lock file is refused before
// it is started, as the CLI does when nobody wraps it.
func TestTamperedProvider(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(b *bench, w *lab.Workspace) (mark string){
		"program": func(b *bench, w *lab.Workspace) string {
			_, program := ownPackage(b, w, "six")
			return impostor(b.t, program)
		},
		"added": func(b *bench, w *lab.Workspace) string {
			dir, _ := ownPackage(b, w, "six")
			if err := os.WriteFile(filepath.Join(dir, "preload.so"), []byte("x"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			return filepath.Join(b.FixtureDir(), "journal.jsonl")
		},
		"cache": func(b *bench, w *lab.Workspace) string {
			// The package is a link into a cache that somebody has changed.
			dir, program := ownPackage(b, w, "six")
			cache := filepath.Join(b.t.TempDir(), "cache")
			if err := os.Rename(dir, cache); err != nil {
				b.t.Fatal(err)
			}
			if err := os.Symlink(cache, dir); err != nil {
				b.t.Fatal(err)
			}
			return impostor(b.t, filepath.Join(cache, filepath.Base(program)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "victim")
			mark := tamper(b, w)
			b.refusedBeforeStart(w, 78, "tfweaver/six", "not started", "init")
			if exists(mark) {
				t.Error("it was started")
			}
			b.terraform(w, 1, "plan", "-no-color") // the CLI refuses it as well
			if exists(mark) {
				t.Error("the CLI started it")
			}
		})
	}
}

// TestImpostorWouldBeSeen: the mark of TestTamperedProvider is left by an impostor
// that is started, which is so where the lock file has no checksum.
func TestImpostorWouldBeSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "unchecked")
	_, program := ownPackage(b, w, "six")
	editLock(b, w, func(text string) string {
		return regexp.MustCompile(`(?s)\n  hashes = \[.*?\]`).ReplaceAllString(text, "")
	})
	run := b.tfweaver(w, 0, "plan", "-no-color")
	if !strings.Contains(unwrapped(run.Stderr()), "no checksum for") {
		t.Errorf("no warning: %s", run.Stderr())
	}
	mark := impostor(t, program)
	said := unwrapped(b.tfweaver(w, 1, "plan", "-no-color").Stderr())
	if !exists(mark) {
		t.Error("the impostor was not started")
	}
	if !strings.Contains(said, "six") {
		t.Errorf("the error does not name the provider: %s", said)
	}
}

// editLock changes the dependency lock file.
func editLock(b *bench, w *lab.Workspace, edit func(string) string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, ".terraform.lock.hcl"))
	if err != nil {
		b.t.Fatal(err)
	}
	edited := edit(string(text))
	if edited == string(text) {
		b.t.Fatal("the lock file was not changed")
	}
	if err := w.Write(".terraform.lock.hcl", edited); err != nil {
		b.t.Fatal(err)
	}
}

var h1Line = regexp.MustCompile(`\n\s*"h1:[^"]*",`)

// TestLockFiles: what lock files look like, and what becomes of a run.
func TestLockFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(string) string
		code int
		says string
	}{
		"line ends of Windows": {func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, 0, ""},
		"comments": {func(s string) string {
			return "# ours\n" + strings.ReplaceAll(s, "  hashes", "  // more\n  hashes") + "/* and\nmore */\n"
		}, 0, ""},
		// A later form of the file is for the CLI to judge, and it does.
		"later keys": {func(s string) string {
			return strings.ReplaceAll(s, "  hashes", "  signed_by = [\"x\"]\n  hashes")
		}, 1, "signed_by"},
		"only archives": {func(s string) string {
			return h1Line.ReplaceAllString(s, "\n    \"zh:0000000000000000000000000000000000000000000000000000000000000000\",")
		}, 78, "init"},
		"another version": {func(s string) string {
			return strings.ReplaceAll(s, `version = "`+lab.ProviderVersion+`"`, `version = "9.9.9"`)
		}, 1, "init"},
		"no lock file at all": {func(string) string { return "this is no lock file {" }, 1, "lock file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			w := oneThing(b, "locked")
			editLock(b, w, test.edit)
			run := b.tfweaver(w, test.code, "plan", "-no-color")
			if !strings.Contains(unwrapped(run.Said()), test.says) {
				t.Errorf("does not say %q", test.says)
			}
			native := b.start(plain, w, "plan", "-no-color")
			b.wait(native)
			if (native.ExitCode == 0) != (test.code == 0) {
				t.Errorf("the CLI alone ends with %d", native.ExitCode)
			}
		})
	}
}

// TestTwoVersionsInstalled: the one of the lock file is taken, whatever else is
// there.
func TestTwoVersionsInstalled(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneThing(b, "two")
	_, program := ownPackage(b, w, "six")
	newer := packageOf(b, w, "six", "0.2.0")
	if err := os.MkdirAll(newer, 0o700); err != nil {
		t.Fatal(err)
	}
	mark := impostor(t, filepath.Join(newer, filepath.Base(program)))
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	if exists(mark) {
		t.Error("the other version was started")
	}
	if len(b.fixtureEvents("six")) == 0 {
		t.Error("the provider was not started")
	}
}

// TestPluginCache: init puts links into a cache that all folders share.
func TestPluginCache(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "plugins")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"TF_PLUGIN_CACHE_DIR=" + cache, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1"}})
	w := b.workspaceOf(b.Uninitialised("cached", lab.FixturePreamble+"resource \"five_thing\" \"x\" {\n  name = \"x\"\n}\n"))
	if err := w.Init(b.ctx); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(filepath.Join(w.Dir, ".terraform.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	if now, err := os.ReadFile(filepath.Join(w.Dir, ".terraform.lock.hcl")); err != nil || string(now) != string(lock) {
		t.Errorf("the lock file was changed: %v", err)
	}
	b.unchanged(w)
}

// TestProviderChangedDuringTheRun: a package that is exchanged while the run goes
// on is not started for the rest of it.
func TestProviderChangedDuringTheRun(t *testing.T) {
	t.Parallel()
	hold := filepath.Join(t.TempDir(), "go")
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "long", `
resource "five_thing" "first" {
  name = "first"
  hold = "`+hold+`"
}

provider "six" {
  alias  = "late"
  region = five_thing.first.uid
}

resource "six_thing" "late" {
  provider = six.late
  name     = "late"
}
`))
	dir, program := ownPackage(b, w, "six")
	run := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	err := lab.Await(b.ctx, "the first change is under way", func() (bool, error) {
		events, err := b.FixtureJournal()
		for _, e := range events {
			if e.IsChange() {
				return true, err
			}
		}
		return run.Exited(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil { // as init does: the running one stays
		t.Fatal(err)
	}
	mark := impostor(t, filepath.Join(dir, filepath.Base(program)))
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.wait(run)
	if run.ExitCode != 1 || exists(mark) {
		t.Errorf("exit code %d, started %v", run.ExitCode, exists(mark))
	}
	if !strings.Contains(unwrapped(run.Said()), "changed after it had been checked") {
		t.Error("does not say why")
	}
}
