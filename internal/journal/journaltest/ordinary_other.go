// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix && !linux

package journaltest

import "testing"

// Ordinary runs f: builds on this system are not run by the superuser.
func Ordinary(_ *testing.T, f func()) { f() }
