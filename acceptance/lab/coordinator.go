// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// coordinatorStop is how long a coordinator may take to end.
const coordinatorStop = 10 * time.Second

// stopCoordinator ends the embedded coordinator that runs of the experiment
// started, if there is one. Nobody is its parent any more, so it is found by what
// it has published, and its end is seen by the withdrawal of that.
func (e *Experiment) stopCoordinator() error {
	pid, err := e.coordinator()
	if err != nil || pid == 0 {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("stop the coordinator: %w", err)
	}
	if err := interrupt(process); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return fmt.Errorf("stop the coordinator: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), coordinatorStop)
	defer cancel()
	err = Await(ctx, "the coordinator has ended", func() (bool, error) {
		now, err := e.coordinator()
		return now != pid, err
	})
	if err != nil {
		return errors.Join(err, process.Kill())
	}
	return nil
}

// coordinator is the process id of the coordinator, 0 if none runs.
func (e *Experiment) coordinator() (int, error) {
	text, err := os.ReadFile(e.path("state", "tfweaver", "current"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the coordinator: %w", err)
	}
	var current struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(text, &current); err != nil {
		return 0, fmt.Errorf("find the coordinator: %w", err)
	}
	return current.PID, nil
}
