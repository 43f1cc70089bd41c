// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package embedded_test

import "errors"

func limitFiles(string) error { return errors.ErrUnsupported }
