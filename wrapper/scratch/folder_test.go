// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// newFolder makes a folder that is removed at the end of the test.
func newFolder(t *testing.T, parent string) *Folder {
	t.Helper()
	f, err := open(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// fill puts a file into a folder.
func fill(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	f, other := newFolder(t, parent), newFolder(t, parent)
	if f.Path() == other.Path() || filepath.Dir(f.Path()) != parent {
		t.Errorf("folders %s and %s, want two in %s", f.Path(), other.Path(), parent)
	}
	fill(t, f.Path(), "plan")
	for range 2 {
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	if exists(t, f.Path()) || !exists(t, other.Path()) {
		t.Error("want one folder removed and the other left")
	}
}

func TestFolderCannotBeMade(t *testing.T) {
	t.Parallel()
	if f, err := open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, %v; want that the parent does not exist", f, err)
	}
}

// startOwner starts a process that holds a folder. kill ends it the hard way.
func startOwner(t *testing.T, parent string) (path string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"="+parent)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // closed by kill alone: it must not end by itself
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
		_ = in.Close()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

// TestAKilledOwnersFolderIsRemoved: a plan with secrets is there no longer than
// until the next run, and never goes while its owner lives.
func TestAKilledOwnersFolderIsRemoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	killed, kill := startOwner(t, parent)
	living, _ := startOwner(t, parent)
	mine := newFolder(t, parent)
	for _, path := range []string{killed, living} {
		if !exists(t, filepath.Join(path, "plan")) {
			t.Fatalf("%s went while its owner lives", path)
		}
	}
	kill()
	if !exists(t, filepath.Join(killed, "plan")) {
		t.Fatal("the killed process cleaned up after itself: nothing is tested")
	}
	newFolder(t, parent)
	if exists(t, killed) {
		t.Error("the killed process's folder is left")
	}
	for _, path := range []string{living, mine.Path()} {
		if !exists(t, path) {
			t.Errorf("%s went while its owner lives", path)
		}
	}
}

// TestFoldersComeAndGoAtOnce: nobody's folder is taken for a dead one's while it
// is being made, used or removed by others.
func TestFoldersComeAndGoAtOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				f, err := open(parent)
				if err != nil {
					t.Error(err)
					return
				}
				file := filepath.Join(f.Path(), "plan")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(file); err != nil {
					t.Error(err)
				}
				if err := f.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
