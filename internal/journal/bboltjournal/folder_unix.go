// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package bboltjournal

import (
	"fmt"
	"os"
	"syscall"
)

// checkFolder refuses a folder in which others could replace the journal.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the journal's folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	perm := info.Mode().Perm()
	if perm&0o022 == 0 {
		return nil
	}
	remedy := "name a folder of your own"
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() && info.Mode()&os.ModeSticky == 0 {
		remedy = fmt.Sprintf("run `chmod 700 %s`, or %s", dir, remedy)
	}
	return fmt.Errorf("others may write to the journal's folder %s (mode %04o): %s", dir, perm, remedy)
}

// checkFile refuses a file that others can read or write, or that somebody else
// owns: it holds the secret behind the sessions' credentials.
func checkFile(info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &exposedError{reason: fmt.Sprintf("it belongs to user %d", st.Uid), remedy: fmt.Sprintf("make it yours with `chown %d`", os.Geteuid())}
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return &exposedError{reason: fmt.Sprintf("others can use it, its mode is %04o", perm), remedy: "run `chmod 600` on it"}
	}
	return nil
}

// syncFolder makes the entries of a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
