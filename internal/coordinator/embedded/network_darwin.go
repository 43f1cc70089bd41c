// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func systemFileSystem(dir string) (kind string, network bool, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return unix.ByteSliceToString(fs.Fstypename[:]), fs.Flags&unix.MNT_LOCAL == 0, nil
}
