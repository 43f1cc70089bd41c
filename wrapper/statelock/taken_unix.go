// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package statelock

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// lockOf asks for the fcntl lock of a file without taking it. The process itself
// must have no lock of the file: closing it would give that up.
func lockOf(file string) taken {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return free // the CLIs make the file before they lock it
	}
	if err != nil {
		return cannotTell
	}
	defer f.Close() //nolint:errcheck // only read
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return cannotTell // some file systems keep no locks
	}
	if lock.Type == unix.F_UNLCK {
		return free
	}
	return held
}
