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
type job struct{ cmd *exec.Cmd }

func start(cmd *exec.Cmd) (*job, error) { return &job{cmd: cmd}, cmd.Start() }

func (j *job) pass(os.Signal) {}

// stop ends the CLI: one process cannot interrupt another here.
func (j *job) stop() { _ = j.cmd.Process.Kill() }

func (j *job) wait() (int, error) { return exitCode(j.cmd.Wait()) }

func killedCode(*exec.ExitError) int { return 1 }

// Exec runs the CLI in tfweaver's place and returns its exit code.
func Exec(path string, args, env []string) (int, error) {
	return Process{Path: path, Args: args, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}.Run(context.Background())
}
