// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux && !darwin && !windows

package server

import "errors"

// SystemFileSystem is what the operating system says.
func SystemFileSystem(string) (kind string, network bool, err error) {
	return "", false, errors.ErrUnsupported
}
