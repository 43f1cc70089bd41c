// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"os/exec"
)

// EnvCLI names the environment variable that is the program under test for the
// scripts of [Workspace.StartScript] and [Workspace.StartInTerminal].
const EnvCLI = "CLI"

// StartScript runs a bash script in the workspace, in which "$CLI" is the plain
// CLI, or tfweaver.
func (w *Workspace) StartScript(ctx context.Context, tfweaver bool, script string) (*Run, error) {
	r := w.script(ctx, tfweaver, []string{"bash", "--norc", "-c", script})
	together(r)
	if err := w.of.launch(r); err != nil {
		return nil, err
	}
	return r, nil
}

// script is a shell in the workspace that was not started yet.
func (w *Workspace) script(ctx context.Context, tfweaver bool, words []string) *Run {
	program := w.of.Lab.CLI.Path
	if tfweaver {
		program = w.of.Lab.Binaries.Tfweaver
	}
	r := newRun(exec.CommandContext(ctx, words[0], words[1:]...), w.Actor, words[len(words)-1]+" # with "+program)
	r.cmd.Dir, r.cmd.Env = w.Dir, append(w.environment(), "TF_INPUT=1", "TERM=dumb", EnvCLI+"="+program)
	return r
}
