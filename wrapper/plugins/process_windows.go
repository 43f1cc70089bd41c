// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build windows

package plugins

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup keeps the console's Ctrl-C away from the provider: the CLI
// asks it to stop by RPC, and a signal beside that would end it mid-call.
//
// The provider outlives a forced end of this process.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
