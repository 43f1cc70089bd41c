// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockFile is the CLI's dependency lock file in a workspace.
const lockFile = ".terraform.lock.hcl"

// locked remembers the lock file that init has written. Nothing else may touch
// it: Close of the experiment fails if anything did.
func (w *Workspace) locked() error {
	text, err := os.ReadFile(filepath.Join(w.Dir, lockFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("workspace %s: %w", w.Actor, err)
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.locks[w] = string(text)
	return nil
}

// Unlocked says that the lock file will be changed on purpose.
func (w *Workspace) Unlocked() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.locks, w)
}

// checkLocks is an error when a lock file is not what init has left. A workspace
// whose folder was removed is none any more.
func (e *Experiment) checkLocks() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for w, want := range e.locks {
		if _, err := os.Stat(w.Dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		got, err := os.ReadFile(filepath.Join(w.Dir, lockFile))
		switch {
		case err != nil && (want != "" || !errors.Is(err, fs.ErrNotExist)):
			errs = append(errs, fmt.Errorf("workspace %s: %w", w.Actor, err))
		case string(got) != want:
			errs = append(errs, fmt.Errorf("workspace %s: %s is not as init has left it (say Unlocked where that is meant):\n%s", w.Actor, lockFile, got))
		}
	}
	return errors.Join(errs...)
}
