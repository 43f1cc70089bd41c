// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package command

import "golang.org/x/sys/unix"

// mayWrite says why this user may make no files in a folder, without making one.
func mayWrite(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
