// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Handled is a run whose streams somebody has in hand: they can answer it, and
// they can stop reading what it says.
type Handled struct {
	*Asked
	// readers are the read ends of its standard output and standard error.
	readers [2]*os.File
}

// HandleTerraform starts the plain CLI, HandleTfweaver tfweaver.
func (w *Workspace) HandleTerraform(ctx context.Context, args ...string) (*Handled, error) {
	return w.handle(ctx, w.of.Lab.CLI.Path, args)
}

// HandleTfweaver is HandleTerraform for tfweaver.
func (w *Workspace) HandleTfweaver(ctx context.Context, args ...string) (*Handled, error) {
	return w.handle(ctx, w.of.Lab.Binaries.Tfweaver, args)
}

func (w *Workspace) handle(ctx context.Context, program string, args []string) (*Handled, error) {
	r := newRun(exec.CommandContext(ctx, program, args...), w.Actor, filepath.Base(program)+" "+strings.Join(args, " "))
	r.cmd.Dir, r.cmd.Env = w.Dir, append(w.environment(), "TF_INPUT=1")
	input, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	h := &Handled{Asked: &Asked{Run: r, input: input}}
	stdout, err := h.pipe(0)
	if err != nil {
		return nil, err
	}
	defer stdout.Close() //nolint:errcheck // the run has its own
	stderr, err := h.pipe(1)
	if err != nil {
		return nil, err
	}
	defer stderr.Close() //nolint:errcheck // the run has its own
	r.cmd.Stdout, r.cmd.Stderr = stdout, stderr
	if err := w.of.launch(r); err != nil {
		return nil, err
	}
	go h.read(0, &r.stdout)
	go h.read(1, &r.stderr)
	return h, nil
}

// pipe makes the pipe of a stream and returns its write end.
func (h *Handled) pipe(n int) (*os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name, err)
	}
	h.readers[n] = reader
	return writer, nil
}

func (h *Handled) read(n int, to *output) {
	_, _ = io.Copy(to, h.readers[n]) // it ends when either side closes the pipe
	_ = h.readers[n].Close()
}

// StopReading lets the reader of standard output, of standard error, or of both go
// away, as "head -1" does.
func (h *Handled) StopReading(stdout, stderr bool) error {
	var errs [2]error
	for n, wanted := range []bool{stdout, stderr} {
		if wanted {
			errs[n] = h.readers[n].Close()
		}
		if errors.Is(errs[n], os.ErrClosed) {
			errs[n] = nil
		}
	}
	return errors.Join(errs[:]...)
}
