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
