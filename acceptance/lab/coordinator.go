// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
)

// coordinatorStop is how long a coordinator may take to end.
const coordinatorStop = 10 * time.Second

// StopCoordinator ends the embedded coordinator that runs of the experiment
// started, if there is one. Nobody is its parent any more, so it is found by what
// it has published, and its end is seen by the withdrawal of that.
func (e *Experiment) StopCoordinator() error { return stopCoordinator(e.home) }

// stopElsewhere ends those of workspaces with homes of their own.
func (e *Experiment) stopElsewhere() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, home := range e.homes {
		err = errors.Join(err, stopCoordinator(home))
	}
	return err
}

func stopCoordinator(home string) error {
	l, err := leaderIn(home)
	pid := l.PID
	if err != nil || pid == 0 || !owns(home, pid) {
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
		now, err := leaderIn(home)
		return now.PID != pid, err
	})
	if err != nil {
		return errors.Join(err, process.Kill())
	}
	return nil
}

// owns says whether a process lives in a home: the number of one that was killed
// may have gone to another since. Where that cannot be told, it is.
func owns(home string, pid int) bool {
	all, err := processesWith("HOME=" + home)
	return err != nil || slices.ContainsFunc(all, func(p Process) bool { return p.PID == pid })
}

// CoordinatorPID is the process id of the embedded coordinator, 0 if none has
// published that it serves. One that was killed stays published.
func (e *Experiment) CoordinatorPID() (int, error) {
	l, err := leaderIn(e.home)
	return l.PID, err
}

// leader is what a coordinator has published.
type leader struct {
	Address string `json:"address"`
	PID     int    `json:"pid"`
}

// leaderIn is zero where none has published anything.
func leaderIn(home string) (l leader, err error) {
	text, err := os.ReadFile(filepath.Join(home, "state", "tfweaver", "current"))
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, fmt.Errorf("find the coordinator: %w", err)
	}
	return l, nil
}

// Connect talks to the running embedded coordinator. Close the client.
func (e *Experiment) Connect(ctx context.Context) (*client.Client, error) {
	l, err := leaderIn(e.home)
	if err != nil {
		return nil, err
	}
	return client.Dial(ctx, l.Address)
}
