// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"errors"
	"os"
	"syscall"
)

// together makes a shell and all that it starts end together: signals go to its
// process group, as those of a terminal do.
func together(r *Run) {
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return signalGroup(r.cmd.Process.Pid, syscall.SIGINT) }
	r.kill = func() error { return signalGroup(r.cmd.Process.Pid, syscall.SIGKILL) }
}

func signalGroup(leader int, signal syscall.Signal) error {
	if err := syscall.Kill(-leader, signal); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return os.ErrProcessDone
}
