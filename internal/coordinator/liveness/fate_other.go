// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package liveness

import "github.com/tfweaver/tfweaver/internal/coordinator"

func identify(int) (coordinator.Process, error) { return coordinator.Process{}, ErrUnsupported }

func place(p coordinator.Process) (coordinator.Process, bool) {
	return coordinator.Process{PID: p.PID}, false
}

func look(coordinator.Process) Fate { return Unknown }

func sameNumbers(int) bool { return false }
