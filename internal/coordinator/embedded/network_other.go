// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux && !darwin && !windows

package embedded

import "errors"

func systemFileSystem(string) (kind string, network bool, err error) {
	return "", false, errors.ErrUnsupported
}
