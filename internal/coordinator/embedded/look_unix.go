// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// mayWrite says why this user may make no files in a folder, without making one.
func mayWrite(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &server.FolderError{Dir: dir, Reason: "is not a folder"}
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &server.FolderError{Dir: dir, Reason: "cannot be written by you (" + systemReason(err) + ")"}
	}
	return nil
}
