// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package settings

import (
	"io/fs"
	"os"
	"syscall"
)

// trusted says whether a file belongs to this user, to the system, or to
// whoever owns the working folder, whose code is about to be run anyway.
func trusted(info fs.FileInfo, dir string) bool {
	owner, ok := ownerOf(info)
	if !ok || owner == 0 || owner == uint32(os.Geteuid()) {
		return ok
	}
	work, err := os.Stat(dir)
	if err != nil {
		return false
	}
	theirs, ok := ownerOf(work)
	return ok && owner == theirs
}

func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}
