// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// firstCallExtra is how much longer session A's first call took on Azure, in
// the paper's trace.
const firstCallExtra = 3630 * time.Millisecond

// policyLimit bounds one policy: a run that hangs is an error, not a long demo.
const policyLimit = 5 * time.Minute

// planFile is the saved plan of each session.
const planFile = "run.tfplan"

// Config says what to run and where to put the logs.
type Config struct {
	Lab *lab.Lab
	// Scale multiplies the cloud's latencies. The start of a CLI is not scaled,
	// so makespans at small scales have a larger share of it.
	Scale float64
	// Seed perturbs latencies and names; 0 is the paper's trace.
	Seed uint64
	// Out is the folder that gets one folder with an activity log per policy.
	Out      string
	Progress lab.Progress
}

// Trace is one policy as it ran.
type Trace struct {
	Figure
	Log activity.Log
	// Waits are the times that sessions spent waiting for others, as tfweaver
	// reported them; the cloud knows nothing of these.
	Waits []Wait
}

// LogFile is where the activity log of a policy is below the output folder.
func LogFile(out, policy string) string { return filepath.Join(out, policy, "activity.jsonl") }

// Run runs the three policies one after another. An error means that the
// workload could not be run; whether it ran as expected is CheckShape's question.
func Run(ctx context.Context, cfg Config) (Result, []Trace, error) {
	result := Result{Scale: cfg.Scale, Seed: cfg.Seed}
	var traces []Trace
	// The latencies that the serial run meets are those of the others too.
	var serial activity.Log
	for _, p := range policies() {
		cfg.Progress("%s: planning", p.name)
		trace, err := runPolicy(ctx, cfg, p, serial)
		if err != nil {
			return result, traces, fmt.Errorf("policy %s: %w", p.name, err)
		}
		if p.name == Serial {
			serial = trace.Log
		}
		cfg.Progress("%s: %d of %d succeeded, %d refused, %.2f s", p.name, trace.OK, trace.Total, trace.RefusedAtCloud, trace.MakespanS)
		result.Policies = append(result.Policies, trace.Figure)
		traces = append(traces, trace)
	}
	return result, traces, nil
}

// runPolicy runs one policy on a cloud of its own.
func runPolicy(ctx context.Context, cfg Config, p policy, serial activity.Log) (t Trace, err error) {
	ctx, cancel := context.WithTimeout(ctx, policyLimit)
	defer cancel()
	log := LogFile(cfg.Out, p.name)
	for _, old := range []string{log, reportFile(log)} {
		if err := freshFile(old); err != nil {
			return t, err
		}
	}
	s, err := newStage(ctx, cfg, log, serial)
	if err != nil {
		return t, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.report(reportFile(log)))
		}
		err = errors.Join(err, s.experiment.Close())
	}()
	if err := s.plan(ctx, p.planner); err != nil {
		return t, err
	}
	cfg.Progress("%s: the clock starts", p.name)
	runs, err := p.apply(ctx, s)
	if err != nil {
		return t, err
	}
	if t, err = Read(cfg.Out, p.name); err != nil {
		return t, err
	}
	t.Waits, err = allWaits(runs)
	return t, err
}

// reportFile is where the report of a run that went wrong is, beside the log.
func reportFile(log string) string { return filepath.Join(filepath.Dir(log), "report.txt") }

// report keeps all that the runs said where the log is.
func (s *stage) report(file string) error {
	if err := os.WriteFile(file, []byte(s.experiment.Report()), 0o644); err != nil {
		return fmt.Errorf("keep the report: %w", err)
	}
	return fmt.Errorf("what the runs said is in %s", file)
}

// Read computes a trace again from the activity log on disk.
func Read(out, policy string) (Trace, error) {
	events, err := activity.ReadFile(LogFile(out, policy))
	if err != nil {
		return Trace{}, err
	}
	log, err := activity.Pair(events)
	if err != nil {
		return Trace{}, err
	}
	return Trace{Figure: Measure(policy, log), Log: log}, nil
}

// freshFile makes room for a file and removes an old one: the cloud appends.
func freshFile(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old file: %w", err)
	}
	return nil
}
