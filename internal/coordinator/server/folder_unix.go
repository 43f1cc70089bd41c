// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package server

import (
	"fmt"
	"os"
	"syscall"
)

// CheckFolder refuses a folder in which others could put files of theirs: one
// that they own or may write to. The error is a FolderError, or says that the
// folder cannot be looked at.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &FolderError{Dir: dir, Reason: "is not a folder"}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &FolderError{Dir: dir, Reason: fmt.Sprintf("belongs to user %d", st.Uid)}
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return &FolderError{
			Dir: dir, Reason: fmt.Sprintf("can be written by others (mode %04o)", perm),
			Closable: info.Mode()&os.ModeSticky == 0,
		}
	}
	return nil
}
