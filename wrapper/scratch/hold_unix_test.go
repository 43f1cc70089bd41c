// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package scratch

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFolderIsPrivate(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(newFolder(t, t.TempDir()).Path())
	if err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("mode %v, %v; want a folder for its owner only", info.Mode(), err)
	}
}

// TestSweepKeepsWhatOthersCanEnter: no folder of ours looks like that, and
// nobody can say who put what there.
func TestSweepKeepsWhatOthersCanEnter(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	shared, target := filepath.Join(parent, prefix+"1"), filepath.Join(t.TempDir(), "target")
	abandoned(t, shared)
	if err := os.Chmod(shared, 0o750); err != nil {
		t.Fatal(err)
	}
	abandoned(t, target)
	if err := os.Symlink(target, filepath.Join(parent, prefix+"2")); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if !exists(t, filepath.Join(shared, "plan")) {
		t.Error("a folder that others can enter was removed")
	}
	if !exists(t, filepath.Join(target, "plan")) {
		t.Error("what a link points to was removed")
	}
}

// TestAChildDoesNotHoldTheFolder: the CLI outlives a killed run, and a
// coordinator that it started outlives it for long.
func TestAChildDoesNotHoldTheFolder(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	f := newFolder(t, parent)
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it says that it was killed
	}()
	if err := f.held.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	// Another test's child may have the file for as long as it takes to become
	// another program.
	for end := time.Now().Add(30 * time.Second); exists(t, f.Path()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the folder is still held")
		}
		sweep(parent)
	}
}

// listenIn makes the longest sockets in a folder that a run needs.
func listenIn(t *testing.T, dir string) {
	t.Helper()
	for _, longest := range []string{"plugin4294967295", "tfw4294967295/99"} {
		path := filepath.Join(dir, longest)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

// TestForSockets: a job's TMPDIR may be deep inside its workspace.
func TestForSockets(t *testing.T) {
	base := t.TempDir()
	for name, temp := range map[string]string{
		"short": base, "long": filepath.Join(base, strings.Repeat("w", longestTemp)),
		"longest": filepath.Join(base, strings.Repeat("w", max(1, longestTemp-len(base)-1))),
	} {
		if err := os.MkdirAll(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", temp)
		dead := filepath.Join(temp, prefix+"1")
		abandoned(t, dead)
		f, err := ForSockets()
		if err != nil {
			t.Fatal(err)
		}
		if exists(t, dead) {
			t.Errorf("%s: an abandoned folder is left", name)
		}
		t.Cleanup(func() {
			if err := f.Remove(); err != nil {
				t.Error(err)
			}
		})
		listenIn(t, f.Path())
		files, err := ForFiles()
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(files.Path()) != temp {
			t.Errorf("%s: files are in %s, want in %s", name, files.Path(), temp)
		}
		if err := files.Remove(); err != nil {
			t.Error(err)
		}
	}
}
