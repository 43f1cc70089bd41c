// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"fmt"
	"syscall"
)

// Freeze stops the process of the run, and nothing that it has started, until
// thaw is called.
func (r *Run) Freeze() (thaw func() error, err error) {
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("%s: freeze: %w", r.Name, err)
	}
	return func() error {
		if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			return fmt.Errorf("%s: thaw: %w", r.Name, err)
		}
		return nil
	}, nil
}
