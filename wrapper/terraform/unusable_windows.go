// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build windows

package terraform

import (
	"errors"

	"golang.org/x/sys/windows"
)

// badFormat says whether the system does not know how to run a file.
func badFormat(err error) bool {
	return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) || errors.Is(err, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH)
}
