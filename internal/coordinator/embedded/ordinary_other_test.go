// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix && !linux

package embedded_test

import "testing"

// ordinary runs f: builds on this system are not run by the superuser.
func ordinary(_ *testing.T, f func()) { f() }
