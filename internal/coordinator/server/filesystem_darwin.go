// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SystemFileSystem is what the operating system says.
func SystemFileSystem(dir string) (kind string, network bool, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return unix.ByteSliceToString(fs.Fstypename[:]), fs.Flags&unix.MNT_LOCAL == 0, nil
}
