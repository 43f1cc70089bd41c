// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows && !linux

package terraform

import "syscall"

// outliving says what becomes of the CLI when tfweaver dies. These systems cannot
// tell it; it finds out by its next call of a provider.
func outliving() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
