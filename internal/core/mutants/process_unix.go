// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package mutants

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// alone gives a command a process group of its own, so that nothing that it
// started outlives it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	diesWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// guard sees to it that the process group of a started command ends with this
// program, even if that is killed: what go test has started hears of no death but
// that of go test. A shell waits for the end of a pipe that only this program
// holds. end calls it off, once the command has been waited for.
func guard(cmd *exec.Cmd) (end func(), err error) {
	shell := exec.CommandContext(context.Background(), "sh", "-c", `read -r _; kill -9 "-$0"`, strconv.Itoa(cmd.Process.Pid))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal from the terminal is not for it
	pipe, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("guard a process: %w", err)
	}
	return func() {
		_ = shell.Process.Kill() // before the pipe ends: the number may be another's by now
		_ = shell.Wait()
		_ = pipe.Close()
	}, nil
}

// bounded is what go test runs test binaries with, so that a fault cannot eat
// the machine's memory.
func bounded() string {
	return fmt.Sprintf(`sh -c 'ulimit -v %d 2>/dev/null; exec "$0" "$@"'`, space<<20)
}
