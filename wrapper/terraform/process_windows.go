// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build windows

package terraform

import (
	"context"
	"os"
	"os/exec"
)

// Signals are the signals that tfweaver takes. The console sends Ctrl-C to
// every process that is attached to it, so there is nothing to hand on.
func Signals() []os.Signal { return []os.Signal{os.Interrupt} }

// KeepBrokenPipes does nothing: writing to a broken pipe is an error here.
func KeepBrokenPipes() {}

// job is a running CLI.
type job struct {
	cmd *exec.Cmd
	// hungUp and asleep never get anything: a console that is closed ends all its
	// processes, and there is no Ctrl-Z.
	hungUp chan struct{}
	asleep chan os.Signal
}

func start(cmd *exec.Cmd, _ func()) (*job, error) { return &job{cmd: cmd}, cmd.Start() }

func (j *job) pass(os.Signal) {}

func (j *job) sleepWithTheCLI() {}

// stop ends the CLI: one process cannot interrupt another here.
func (j *job) stop() { _ = j.cmd.Process.Kill() }

func (j *job) wait() (int, error) { return exitCode(j.cmd.Wait(), j.cmd.ProcessState) }

func killedCode(*os.ProcessState) int { return 1 }

// Exec runs the CLI in tfweaver's place and returns its exit code.
func Exec(path string, args, env []string) (int, error) {
	return Process{Path: path, Args: args, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}.Run(context.Background())
}
