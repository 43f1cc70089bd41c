// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// DaemonAddress is where StartDaemon lets a coordinator listen.
func (e *Experiment) DaemonAddress() string { return "unix://" + e.path("run", "d.sock") }

// StartDaemon starts a coordinator of its own for the experiment, "tfweaver
// serve", and waits until it serves. One that was killed is followed by the
// next, with the same journal.
func (e *Experiment) StartDaemon(ctx context.Context) (*Run, error) {
	r := newRun(exec.CommandContext(ctx, e.Lab.Binaries.Tfweaver, "serve", "--listen", e.DaemonAddress(), "--dir", e.path("daemon")), "daemon", "tfweaver serve")
	r.cmd.Dir, r.cmd.Env = e.home, e.environment("daemon")
	if err := e.launch(r); err != nil {
		return nil, err
	}
	err := Await(ctx, "the daemon serves", func() (bool, error) {
		if r.Exited() {
			return false, errors.New(tail(r.Said(), 20))
		}
		return strings.Contains(r.Stderr(), "Serving "), nil
	})
	if err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	return r, nil
}

// DaemonJournal reads the journal of a daemon that has ended.
func (e *Experiment) DaemonJournal(ctx context.Context) (Journal, error) {
	return ReadJournal(ctx, e.path("daemon"))
}
