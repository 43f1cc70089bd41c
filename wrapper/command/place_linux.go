// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import "golang.org/x/sys/unix"

// noExec says whether programs cannot be run from a folder: it is mounted so.
func noExec(dir string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(dir, &stat) == nil && stat.Flags&unix.ST_NOEXEC != 0
}
