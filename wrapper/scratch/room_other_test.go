// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package scratch

import "errors"

// limitFiles is for tests on Linux.
func limitFiles(string) error { return errors.ErrUnsupported }
