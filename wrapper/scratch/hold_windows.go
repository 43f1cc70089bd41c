// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"errors"
	"os"
	"path/filepath"
)

// holdName is the file that the owner of a folder keeps open: as opened here,
// nobody can remove it then.
const holdName = "held"

// shortTemp is in the user's own profile, and providers use no sockets there.
func shortTemp() string { return os.TempDir() }

// hold keeps a new folder from being found abandoned while this process lives.
// The error is errTaken when somebody else was faster.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, holdName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errTaken
	}
	return f, err
}

// discard removes a folder that nobody holds, and returns whether there was one.
// A folder that was never held is removed when it is empty. If its owner was about
// to hold it, that one makes another.
func discard(path string) bool {
	err := os.Remove(filepath.Join(path, holdName))
	if errors.Is(err, os.ErrNotExist) {
		return os.Remove(path) == nil
	}
	return err == nil && os.RemoveAll(path) == nil
}

// unheld cannot be told: what nobody holds is found out by removing it.
func unheld(string) bool { return false }
