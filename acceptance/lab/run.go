// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// killGrace is how long an interrupted run may take to end by itself.
const killGrace = 20 * time.Second

// Run is one run of a command line interface in a workspace.
type Run struct {
	// Name is the program and its arguments, for people.
	Name string
	// Actor is who runs it.
	Actor string
	// Started is when the process was started.
	Started time.Time
	// Ended is when it had exited; to be read after Wait.
	Ended time.Time
	// ExitCode is to be read after Wait; -1 when a signal ended the process.
	ExitCode int

	cmd            *exec.Cmd
	stdout, stderr output
	// done is closed when the process has exited and the fields above are set.
	done   chan struct{}
	failed error
	// kill ends the process at once.
	kill func() error
}

// Stdout is the standard output so far.
func (r *Run) Stdout() string { return r.stdout.String() }

// Stderr is the standard error so far.
func (r *Run) Stderr() string { return r.stderr.String() }

// Said is everything that the run wrote so far, standard output first.
func (r *Run) Said() string { return r.Stdout() + r.Stderr() }

// PID is the process id.
func (r *Run) PID() int { return r.cmd.Process.Pid }

// Elapsed is how long the run took.
func (r *Run) Elapsed() time.Duration { return r.Ended.Sub(r.Started) }

// CPU is how long processors worked for the process and for those of its
// descendants that were waited for; to be read after Wait.
func (r *Run) CPU() time.Duration {
	state := r.cmd.ProcessState
	if state == nil {
		return 0
	}
	return state.UserTime() + state.SystemTime()
}

// FirstWord is how long after its start the run first wrote something, to either
// stream; to be read after Wait. It is the whole run if it never did.
func (r *Run) FirstWord() time.Duration {
	first := r.Ended
	for _, at := range []time.Time{r.stdout.began(), r.stderr.began()} {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first.Sub(r.Started)
}

// Wait waits until the process has exited. A non-zero exit code is no error: it
// is in ExitCode.
func (r *Run) Wait() error {
	<-r.done
	return r.failed
}

// Done is closed when the process has exited.
func (r *Run) Done() <-chan struct{} { return r.done }

// Exited reports whether the process has exited.
func (r *Run) Exited() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Interrupt asks the process to end, as Ctrl-C does.
func (r *Run) Interrupt() error {
	if err := r.cmd.Cancel(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: interrupt: %w", r.Name, err)
	}
	return nil
}

// waitOrKill waits for an interrupted run, and kills it when that does not help.
func (r *Run) waitOrKill() {
	select {
	case <-r.done:
	case <-time.After(killGrace):
		_ = r.kill() // it may have exited this moment
		<-r.done
	}
}

// ExitError is the error of a run that was expected to succeed.
type ExitError struct {
	Run *Run
}

// Error shows the end of what the run said.
func (e *ExitError) Error() string {
	return fmt.Sprintf("%s: exit code %d\n%s", e.Run.Name, e.Run.ExitCode, tail(e.Run.Said(), 60))
}

// MustSucceed is an *ExitError unless the run exited with 0.
func (r *Run) MustSucceed() error {
	if r.ExitCode != 0 {
		return &ExitError{Run: r}
	}
	return nil
}

// Terraform runs the plain CLI to its end.
func (w *Workspace) Terraform(ctx context.Context, args ...string) (*Run, error) {
	return finish(w.StartTerraform(ctx, args...))
}

// Tfweaver runs tfweaver to its end.
func (w *Workspace) Tfweaver(ctx context.Context, args ...string) (*Run, error) {
	return finish(w.StartTfweaver(ctx, args...))
}

// StartTerraform starts the plain CLI; Wait for it.
func (w *Workspace) StartTerraform(ctx context.Context, args ...string) (*Run, error) {
	return w.start(ctx, w.of.Lab.CLI.Path, args)
}

// StartTfweaver starts tfweaver; Wait for it.
func (w *Workspace) StartTfweaver(ctx context.Context, args ...string) (*Run, error) {
	return w.start(ctx, w.of.Lab.Binaries.Tfweaver, args)
}

func finish(r *Run, err error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	return r, r.Wait()
}

// start runs a program in the workspace. When ctx ends the process is
// interrupted, and killed when that does not help.
func (w *Workspace) start(ctx context.Context, program string, args []string) (*Run, error) {
	r := newRun(exec.CommandContext(ctx, program, args...), w.Actor, filepath.Base(program)+" "+strings.Join(args, " "))
	r.cmd.Dir, r.cmd.Env = w.Dir, w.environment()
	if err := w.of.launch(r); err != nil {
		return nil, err
	}
	return r, nil
}

// newRun is a run that was not started yet.
func newRun(cmd *exec.Cmd, actor, name string) *Run {
	r := &Run{Actor: actor, Name: actor + ": " + name, ExitCode: -1, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = killGrace
	r.kill = func() error { return cmd.Process.Kill() }
	return r
}

// launch starts a run and keeps it for the report.
func (e *Experiment) launch(r *Run) error {
	r.Started = time.Now()
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	e.keep(r)
	go r.reap()
	return nil
}

// reap waits for the process. Only a failure to wait is an error.
func (r *Run) reap() {
	defer close(r.done)
	err := r.cmd.Wait()
	r.Ended = time.Now()
	if r.cmd.ProcessState != nil {
		r.ExitCode = r.cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, os.ErrProcessDone) {
		r.failed = fmt.Errorf("%s: %w\n%s", r.Name, err, tail(r.Said(), 40))
	}
}
