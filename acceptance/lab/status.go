// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// Status is the part of "tfweaver status -json" that experiments look at.
type Status struct {
	Sessions []struct {
		ID    string `json:"id"`
		Actor string `json:"actor"`
		Phase string `json:"phase"`
	} `json:"sessions"`
	Transactions []struct {
		ID       string `json:"id"`
		Session  string `json:"session"`
		Actor    string `json:"actor"`
		Address  string `json:"address"`
		Action   string `json:"action"`
		Status   string `json:"status"`
		Position int    `json:"position"`
	} `json:"transactions"`
	Locks []struct {
		Node string `json:"node"`
		Tx   string `json:"tx"`
	} `json:"locks"`
	Declared []struct {
		ID string `json:"id"`
	} `json:"declared"`
}

// Status asks the experiment's coordinator what is going on.
func (e *Experiment) Status(ctx context.Context) (Status, error) {
	cmd := exec.CommandContext(ctx, e.Lab.Binaries.Tfweaver, "status", "-json")
	cmd.Dir, cmd.Env = e.home, e.environment("observer")
	var said output
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return Status{}, fmt.Errorf("tfweaver status -json: %w\n%s%s", err, text, said.String())
	}
	var s Status
	if err := json.Unmarshal(text, &s); err != nil {
		return Status{}, fmt.Errorf("tfweaver status -json: %w\n%s", err, tail(string(text), 20))
	}
	return s, nil
}

// statusPeriod is how often the status is asked for: each time is a process.
const statusPeriod = 100 * time.Millisecond

// AwaitStatus waits until the coordinator's status satisfies a condition.
func (e *Experiment) AwaitStatus(ctx context.Context, what string, holds func(Status) bool) error {
	return awaitEvery(ctx, statusPeriod, what, func() (bool, error) {
		s, err := e.Status(ctx)
		return err == nil && holds(s), err
	})
}
