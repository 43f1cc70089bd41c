// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows && !linux

package plugins

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup keeps the terminal's Ctrl-C away from the provider: the CLI
// asks it to stop by RPC, and a signal beside that would end it mid-call.
//
// These systems cannot tie a child's life to its parent's: after a kill -9 of
// this process a provider stays until somebody ends it.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
