// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"context"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// stage is one cloud with the three sessions' workspaces.
type stage struct {
	experiment *lab.Experiment
	workspaces map[string]*lab.Workspace
	names      names
	// serial is the log of the serial run under the same seed.
	serial activity.Log
}

// newStage starts the cloud and initialises the workspaces. Nothing is left
// running when it fails.
func newStage(ctx context.Context, cfg Config, log string, serial activity.Log) (*stage, error) {
	n := namesFor(cfg.Seed)
	e, err := cfg.Lab.Experiment(ctx, lab.Setup{
		LogFile: log, Env: n.environment(),
		Cloud: lab.CloudConfig{
			Scale: cfg.Scale, Seed: cfg.Seed,
			FirstCallExtra: map[string]time.Duration{SessionA: firstCallExtra},
		},
	})
	if err != nil {
		return nil, err
	}
	s := &stage{experiment: e, workspaces: make(map[string]*lab.Workspace), names: n, serial: serial}
	for _, session := range Sessions() {
		w, err := e.FromFolder(ctx, session, configuration(cfg.Lab.Module, session))
		if err != nil {
			e.Close() //nolint:errcheck // the first error matters
			return nil, err
		}
		s.workspaces[session] = w
	}
	return s, nil
}

// command runs a program in a workspace to its end.
type command func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error)

// plan makes every session's plan before the clock starts.
func (s *stage) plan(ctx context.Context, planner command) error {
	for _, session := range Sessions() {
		run, err := planner(s.workspaces[session], ctx, "plan", "-out="+planFile, "-no-color")
		if err != nil {
			return err
		}
		if err := run.MustSucceed(); err != nil {
			return err
		}
	}
	return nil
}

// apply starts the apply of a session's plan.
func (s *stage) apply(ctx context.Context, starter command, session string) (*lab.Run, error) {
	return starter(s.workspaces[session], ctx, "apply", "-json", planFile)
}

// await waits for runs to end. Their exit codes are not judged here.
func await(runs ...*lab.Run) error {
	for _, r := range runs {
		if err := r.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// latency is how long the serial run's operation on an object took.
func (s *stage) latency(objectType, name string) (time.Duration, error) {
	for _, o := range s.serial.Operations {
		if lab.Is(o, objectType, name) {
			return o.Duration(), nil
		}
	}
	return 0, fmt.Errorf("the serial run did not write %s %s", objectType, name)
}
