// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"errors"
	"fmt"
	"os"
)

// Kill ends the process of the run at once, and nothing that it has started. A
// run that has ended is left alone.
func (r *Run) Kill() error {
	if err := r.kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: kill: %w", r.Name, err)
	}
	return nil
}

// Process is a process that belongs to an experiment.
type Process struct {
	PID, Parent int
	// Program is the file name of what it runs.
	Program string
	// Args are the arguments after that, where they can be read.
	Args []string
}

// Signal sends a signal to the process of the run, and to nothing that it has
// started. A run that has ended is left alone.
func (r *Run) Signal(sig os.Signal) error {
	if err := r.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %v: %w", r.Name, sig, err)
	}
	return nil
}

// Status is the exit code as a shell shows it: 128 and the number of the signal
// where a signal ended the process. To be read after Wait.
func (r *Run) Status() int {
	if r.cmd.ProcessState == nil {
		return r.ExitCode
	}
	return statusOf(r.cmd.ProcessState)
}

// Kill ends a process at once. One that has ended is left alone.
func (p Process) Kill() error {
	process, err := os.FindProcess(p.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s (%d): %w", p.Program, p.PID, err)
	}
	return nil
}

// Processes are all processes that live in the experiment's home: runs and what
// they have started, the coordinator, and whatever was left behind. The cloud is
// none of them.
func (e *Experiment) Processes() ([]Process, error) {
	found, err := processesWith("HOME=" + e.home)
	if err != nil {
		return nil, fmt.Errorf("list the processes of the experiment: %w", err)
	}
	return found, nil
}

// Below are the processes that a process has started, and those that these have.
func Below(all []Process, pid int) (found []Process) {
	for _, p := range all {
		if p.Parent == pid {
			found = append(append(found, p), Below(all, p.PID)...)
		}
	}
	return found
}

// Freeze stops a process, and nothing that it has started, until Thaw is called.
func (p Process) Freeze() error { return p.send(stopSignal()) }

// Thaw lets a frozen process go on.
func (p Process) Thaw() error { return p.send(continueSignal()) }

func (p Process) send(sig os.Signal) error {
	process, err := os.FindProcess(p.PID)
	if err == nil {
		err = process.Signal(sig)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%v to %s (%d): %w", sig, p.Program, p.PID, err)
	}
	return nil
}
