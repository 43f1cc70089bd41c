// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"os"
	"syscall"
)

// interrupt ends a process: Windows cannot ask one that has no console of ours.
func interrupt(p *os.Process) error { return p.Kill() }

func statusOf(state *os.ProcessState) int { return state.ExitCode() }

// Windows stops no process; to send these is an error.
func stopSignal() os.Signal { return syscall.Signal(19) }

func continueSignal() os.Signal { return syscall.Signal(18) }
