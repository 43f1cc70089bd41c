// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package mutants

import (
	"fmt"
	"os/exec"
	"syscall"
)

// alone gives a command a process group of its own, so that nothing that it
// started outlives it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// bounded is what go test runs test binaries with, so that a fault cannot eat
// the machine's memory.
func bounded() string {
	return fmt.Sprintf(`sh -c 'ulimit -v %d 2>/dev/null; exec "$0" "$@"'`, space<<20)
}
