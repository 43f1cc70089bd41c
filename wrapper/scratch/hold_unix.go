// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package scratch

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestTemp is the longest path of a folder for temporary files, in bytes, in
// which sockets are made. The path of a socket has 103 at most; a folder of ours
// takes up to 24, and the socket of a provider in it 17, as that of a proxy does
// in a folder of its own.
const longestTemp = 60

// shortTemp is the folder for temporary files, unless its path is too long.
func shortTemp() string {
	if dir := os.TempDir(); len(dir) <= longestTemp {
		return dir
	}
	return "/tmp"
}

// hold keeps a new folder from being found abandoned while this process lives:
// it locks the folder itself (flock(2)), as temporary files are kept from being
// tidied away by age (tmpfiles.d(5)). The lock is the open file's, so it ends
// with this process, and programs that it starts do not get it. The error is
// errTaken when somebody else was faster.
func hold(path string) (*os.File, error) {
	f, err := lock(path)
	if errors.Is(err, errTaken) {
		return nil, err
	}
	if err != nil {
		// Some network file systems lock no folders. Others cannot lock this one
		// either, and leave it alone.
		return nil, nil
	}
	return f, nil
}

// discard removes a folder of this user that nobody holds, and returns whether
// there was one.
func discard(path string) bool {
	f, err := lock(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return os.RemoveAll(path) == nil
}

// unheld says whether a folder of this user is held by nobody. Its owner may
// be about to hold it, and then makes another.
func unheld(path string) bool {
	f, err := lock(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// lock opens and locks a folder that belongs to this user alone.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, path); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func lockFile(f *os.File, path string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !private(opened) {
		return fmt.Errorf("%s belongs to others too", path)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	// Who held it before may have removed it.
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(there, opened) {
		return errTaken
	}
	return nil
}

// private says whether nobody but this user can enter a folder.
func private(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
