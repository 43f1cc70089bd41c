// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup keeps the terminal's Ctrl-C away from the provider: the CLI
// asks it to stop by RPC, and a signal beside that would end it mid-call.
//
// It also makes the kernel end the provider with this process. After a kill
// -9 nobody is left to stop it, and it would hold the user's credentials and
// memory for ever; that its last call stays uncertain is so either way. The
// kernel watches the thread that started the provider (prctl(2),
// PR_SET_PDEATHSIG). Go ends a thread before the process only when a
// goroutine that is locked to it ends, and none here is locked.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
