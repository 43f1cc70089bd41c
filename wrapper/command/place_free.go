// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package command

import "golang.org/x/sys/unix"

// freeBytes is how many bytes this user may still write to a folder, as far as its
// file system tells: ok is false for one that does not know its size.
func freeBytes(dir string) (free uint64, ok bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || stat.Blocks == 0 || stat.Bsize <= 0 {
		return 0, false
	}
	return stat.Bavail * uint64(stat.Bsize), true
}
