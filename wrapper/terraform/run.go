// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Process is one run of the CLI.
type Process struct {
	Path string
	Args []string
	Env  []string
	// Dir is the working folder; empty for the current one.
	Dir    string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Signals are the signals that tfweaver gets while the CLI runs. The CLI
	// gets each of them exactly once, whether from the terminal or from here:
	// a second one would make it exit at once.
	Signals <-chan os.Signal
	// Listen registers Signals for the signals of this process once more. It is
	// called while the CLI is being started; nil where nobody is registered.
	Listen func()
	// Signalled is told of each signal that came; nil for nobody.
	Signalled func(os.Signal)
}

// Run runs the CLI to its end and returns its exit code. An error means that
// the CLI could not be run.
func (p Process) Run(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	job, err := start(cmd, p.Listen)
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", p.Path, err)
	}
	ended := make(chan struct{})
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		p.pass(ctx, job, ended)
	}()
	code, err := job.wait()
	close(ended)
	<-passed
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", p.Path, err)
	}
	return code, nil
}

// pass hands signals on until the CLI has ended. When ctx ends the CLI is
// asked to stop, once, as by an interrupt.
func (p Process) pass(ctx context.Context, job *job, ended <-chan struct{}) {
	done := ctx.Done()
	for {
		select {
		case sig := <-p.Signals:
			p.tell(sig)
			job.pass(sig)
		case <-job.hungUp:
			p.tell(syscall.SIGHUP)
			job.pass(syscall.SIGHUP)
		case <-job.asleep:
			job.sleepWithTheCLI()
		case <-done:
			job.stop()
			done = nil
		case <-ended:
			return
		}
	}
}

func (p Process) tell(sig os.Signal) {
	if p.Signalled != nil {
		p.Signalled(sig)
	}
}

// exitCode translates what cmd.Wait says. That what the CLI printed could not be
// passed on, because nobody reads it any more, is no failure of the CLI.
func exitCode(err error, exit *os.ProcessState) (int, error) {
	if exit == nil {
		return 0, err
	}
	if code := exit.ExitCode(); code >= 0 {
		return code, nil
	}
	return killedCode(exit), nil
}

// OutputError is a run whose output was wanted, and that failed.
type OutputError struct {
	Command  string
	ExitCode int
	// Stderr is what the CLI printed.
	Stderr string
}

// Error names the command, its exit code and what it printed.
func (e *OutputError) Error() string {
	return fmt.Sprintf("%q exited with code %d: %s", e.Command, e.ExitCode, bytes.TrimSpace([]byte(e.Stderr)))
}

// maxStderr bounds what is kept of a failing command's messages, in bytes.
const maxStderr = 64 << 10

// Output runs the CLI and returns what it prints, at most limit bytes. Errors
// are *OutputError when the CLI ran and failed.
func (p Process) Output(ctx context.Context, limit int64) ([]byte, error) {
	out, msg := &bounded{limit: limit}, &bounded{limit: maxStderr}
	p.Stdout, p.Stderr = out, msg
	code, err := p.Run(ctx)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, &OutputError{Command: p.name(), ExitCode: code, Stderr: msg.kept.String()}
	}
	if out.over {
		return nil, fmt.Errorf("%q printed more than %d bytes", p.name(), limit)
	}
	return out.kept.Bytes(), nil
}

func (p Process) name() string {
	if len(p.Args) == 0 {
		return p.Path
	}
	return p.Path + " " + p.Args[0]
}

// bounded keeps the beginning of what is written to it. The buffer is not
// embedded: its ReadFrom would be used in place of Write.
type bounded struct {
	kept  bytes.Buffer
	limit int64
	over  bool
}

// Write never fails, so that the writer is not stopped half-way.
func (b *bounded) Write(data []byte) (int, error) {
	room := b.limit - int64(b.kept.Len())
	if int64(len(data)) > room {
		b.over = true
		b.kept.Write(data[:max(room, 0)])
		return len(data), nil
	}
	return b.kept.Write(data)
}
