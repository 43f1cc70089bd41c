// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package bboltjournal

import (
	"errors"
	"syscall"
)

// The numbers that Windows gives to a full disk, and to one that is just now
// becoming full.
const (
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
)

// isFull says whether an error means that no more fits onto the disk.
func isFull(err error) bool {
	return errors.Is(err, errorHandleDiskFull) || errors.Is(err, errorDiskFull)
}
