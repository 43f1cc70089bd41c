// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"os"
	"syscall"
)

// interrupt asks a process to end.
func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

func statusOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func stopSignal() os.Signal { return syscall.SIGSTOP }

func continueSignal() os.Signal { return syscall.SIGCONT }
