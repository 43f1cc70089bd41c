// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/timeline"
	"github.com/tfweaver/tfweaver/acceptance/validation"
)

// textWidth is the width of the text timeline, in characters.
const textWidth = 118

// once runs the three policies, writes the results and shows them. What could be
// measured is written and shown also when something went wrong.
func once(ctx context.Context, l *lab.Lab, s settings, progress lab.Progress, stdout io.Writer) error {
	found, traces, failure := validation.Run(ctx, validation.Config{Lab: l, Scale: s.scale, Seed: s.seed, Out: s.out, Progress: progress})
	result := document{Result: found}
	panels := panelsOf(traces)
	err := errors.Join(
		failure,
		os.MkdirAll(s.out, 0o755),
		writeResult(s.out, result),
		writeDrawing(s.out, "timeline.svg", title(found), subtitle, panels),
		timeline.Text(stdout, panels, textWidth),
		table(stdout, []validation.Result{found}),
	)
	if err == nil {
		err = errors.Join(validation.CheckShape(found), second(ctx, l, s, &result, progress, stdout))
	}
	fmt.Fprintf(stdout, "\nactivity logs, result.json, timeline.svg and collisions.svg are in %s\n", s.out)
	return err
}

// overSeeds runs the demo for several seeds and fails if the shape of any is not
// as expected.
func overSeeds(ctx context.Context, l *lab.Lab, s settings, progress lab.Progress, stdout io.Writer) error {
	var results []validation.Result
	var errs []error
	for _, seed := range s.seeds {
		progress("seed %d at scale %g", seed, s.scale)
		out := filepath.Join(s.out, fmt.Sprintf("seed-%d", seed))
		result, _, err := validation.Run(ctx, validation.Config{Lab: l, Scale: s.scale, Seed: seed, Out: out, Progress: progress})
		results = append(results, result)
		if err = errors.Join(err, writeResult(out, document{Result: result})); err == nil {
			err = validation.CheckShape(result)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("seed %d: %w", seed, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(append(errs, table(stdout, results))...)
}

// recompute makes result.json anew from the activity logs. Scale and seed are
// not in the logs and come from the result that is there, and so do the figures of
// the second part, which are more than logs tell.
func recompute(s settings, stdout io.Writer) error {
	old, err := readResult(s.out)
	if err != nil {
		return err
	}
	result := old
	result.Policies = nil
	for _, policy := range validation.Policies() {
		trace, err := validation.Read(s.out, policy)
		if err != nil {
			return fmt.Errorf("policy %s: %w", policy, err)
		}
		result.Policies = append(result.Policies, trace.Figure)
	}
	if err := errors.Join(writeResult(s.out, result), table(stdout, []validation.Result{result.Result})); err != nil {
		return err
	}
	return validation.CheckShape(result.Result)
}

// document is result.json: the paper's validation and, beside it, the second part.
type document struct {
	validation.Result
	*SecondPart
}

func resultFile(out string) string { return filepath.Join(out, "result.json") }

func writeResult(out string, result document) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	if err := os.WriteFile(resultFile(out), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

func readResult(out string) (document, error) {
	var result document
	text, err := os.ReadFile(resultFile(out))
	if err != nil {
		return result, fmt.Errorf("read the last result: %w", err)
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return result, fmt.Errorf("read %s: %w", resultFile(out), err)
	}
	return result, nil
}

func writeDrawing(out, name, title, subtitle string, panels []timeline.Panel) (err error) {
	f, err := os.Create(filepath.Join(out, name))
	if err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return timeline.SVG(f, title, subtitle, panels)
}
