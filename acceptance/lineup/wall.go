// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lineup

import (
	"context"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Together has n sessions apply a subnet each to one network, all started at
// once under tfweaver, and returns the time from the start of the first process
// to the end of the last.
func Together(ctx context.Context, e *lab.Experiment, n int) (time.Duration, error) {
	_, sessions, err := prepare(ctx, e, n)
	if err != nil {
		return 0, err
	}
	var runs []*lab.Run
	for _, w := range sessions {
		run, err := w.StartTfweaver(ctx, "apply", "-auto-approve", "-json")
		if err != nil {
			return 0, err
		}
		runs = append(runs, run)
	}
	for _, r := range runs {
		if err := succeed(r, r.Wait()); err != nil {
			return 0, err
		}
	}
	return span(runs), nil
}

// OneByOne is Together without coordination: plain Terraform, each session
// started when the one before has ended.
func OneByOne(ctx context.Context, e *lab.Experiment, n int) (time.Duration, error) {
	_, sessions, err := prepare(ctx, e, n)
	if err != nil {
		return 0, err
	}
	var runs []*lab.Run
	for _, w := range sessions {
		run, err := w.Terraform(ctx, "apply", "-auto-approve", "-json")
		if err := succeed(run, err); err != nil {
			return 0, err
		}
		runs = append(runs, run)
	}
	return span(runs), nil
}

// span is the time from the first start to the last end of runs.
func span(runs []*lab.Run) time.Duration {
	first, last := runs[0].Started, runs[0].Ended
	for _, r := range runs {
		if r.Started.Before(first) {
			first = r.Started
		}
		if r.Ended.After(last) {
			last = r.Ended
		}
	}
	return last.Sub(first)
}
