// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"errors"
	"syscall"
)

// badFormat says whether the system does not know how to run a file.
func badFormat(err error) bool { return errors.Is(err, syscall.ENOEXEC) }
