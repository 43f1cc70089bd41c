// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLockFilesAreWatched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(w *Workspace, file string) error
		fine bool
	}{
		"nothing":            {func(*Workspace, string) error { return nil }, true},
		"one byte more":      {func(_ *Workspace, file string) error { return os.WriteFile(file, []byte("as init left it "), 0o600) }, false},
		"removed":            {func(_ *Workspace, file string) error { return os.Remove(file) }, false},
		"changed on purpose": {func(w *Workspace, _ string) error { return w.Write(lockFile, "on purpose") }, true},
		"no workspace left":  {func(w *Workspace, _ string) error { return os.RemoveAll(w.Dir) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &Experiment{locks: make(map[*Workspace]string)}
			w := &Workspace{Dir: t.TempDir(), of: e}
			file := filepath.Join(w.Dir, lockFile)
			if err := os.WriteFile(file, []byte("as init left it"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := w.locked(); err != nil {
				t.Fatal(err)
			}
			if err := c.do(w, file); err != nil {
				t.Fatal(err)
			}
			if err := e.checkLocks(); (err == nil) != c.fine {
				t.Errorf("got %v", err)
			}
		})
	}
}
