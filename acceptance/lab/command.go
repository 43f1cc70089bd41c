// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"os/exec"
)

// Command is a program in the workspace, with the environment of its runs, that
// is not started yet: for tests that need more than its arguments, such as a
// standard input. It is in no report of the experiment, and who starts it waits
// for it. When ctx ends it is interrupted, and killed when that does not help.
func (w *Workspace) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = w.Dir, w.environment()
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = killGrace
	return cmd
}

// Mirror is the folder of the filesystem mirror from which workspaces of a
// plugin protocol install providers.
func (l *Lab) Mirror(protocol int) string { return l.mirror(protocol) }
