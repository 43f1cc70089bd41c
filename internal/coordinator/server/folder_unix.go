// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package server

import (
	"fmt"
	"os"
	"syscall"
)

// CheckFolder refuses a folder in which others could put a socket of theirs:
// one that they own or may write to.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the socket's folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("others may write to the socket's folder %s (mode %04o): run `chmod 700 %s`, or use another folder", dir, perm, dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("the socket's folder %s belongs to user %d: use a folder of your own", dir, st.Uid)
	}
	return nil
}
