// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix && !linux

package mutants

import "syscall"

func diesWithParent(*syscall.SysProcAttr) {}
