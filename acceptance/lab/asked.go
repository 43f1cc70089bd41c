// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// Asked is a run that asks for approval before it applies.
type Asked struct {
	*Run
	input io.WriteCloser
}

// prompt is where the CLI, and tfweaver in its place, wait for an answer.
const prompt = "Enter a value:"

// AskTerraform starts the plain CLI, AskTfweaver tfweaver, with somebody who can
// answer.
func (w *Workspace) AskTerraform(ctx context.Context, args ...string) (*Asked, error) {
	return w.ask(ctx, w.of.Lab.CLI.Path, args)
}

// AskTfweaver is AskTerraform for tfweaver.
func (w *Workspace) AskTfweaver(ctx context.Context, args ...string) (*Asked, error) {
	return w.ask(ctx, w.of.Lab.Binaries.Tfweaver, args)
}

func (w *Workspace) ask(ctx context.Context, program string, args []string) (*Asked, error) {
	r := newRun(exec.CommandContext(ctx, program, args...), w.Actor, filepath.Base(program)+" "+strings.Join(args, " "))
	r.cmd.Dir, r.cmd.Env = w.Dir, append(w.environment(), "TF_INPUT=1")
	input, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	if err := w.of.launch(r); err != nil {
		return nil, err
	}
	return &Asked{Run: r, input: input}, nil
}

// AwaitPrompt waits until the run asks. It fails if the run ends before that.
func (a *Asked) AwaitPrompt(ctx context.Context) error {
	return Await(ctx, a.Name+" asks", func() (bool, error) {
		asks := strings.Contains(a.Stdout(), prompt)
		if !asks && a.Exited() {
			return false, &ExitError{Run: a.Run}
		}
		return asks, nil
	})
}

// Approve answers with yes. A run that has ended is left alone.
func (a *Asked) Approve() error {
	_, err := io.WriteString(a.input, "yes\n")
	if err = errors.Join(err, a.input.Close()); err != nil && !a.Exited() {
		return fmt.Errorf("%s: approve: %w", a.Name, err)
	}
	return nil
}
