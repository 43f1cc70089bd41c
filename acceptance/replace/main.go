// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command replace lets one run replace a virtual machine that another one
// destroys, again and again at random moments, with and without coordination; see
// package experiment. "make replace ROUNDS=100 SEED=1" runs it. It can be
// interrupted, and goes on where it was.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("replace", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := program.Rounds{Name: "replace", Wanted: 100, Control: 20}
	if err := s.Parse(args, stderr); err != nil {
		return err
	}
	return s.Play(ctx, stdout, stderr,
		func(ctx context.Context, l *lab.Lab) (any, string, error) {
			played, err := experiment.Play(ctx, l, experiment.Draw(s.Seed, s.Only, true))
			return played.Result, played.Report, err
		},
		func(ctx context.Context, l *lab.Lab, progress lab.Progress) error {
			return series(ctx, l, s, progress, stdout)
		})
}

// series carries out both kinds of rounds and shows the figures.
func series(ctx context.Context, l *lab.Lab, s program.Rounds, progress lab.Progress, stdout io.Writer) error {
	coordinated, err := tally(ctx, l, s, s.Wanted, true, progress)
	plain, plainErr := tally(ctx, l, s, s.Control, false, progress)
	figures := map[string]experiment.Tally{"coordinated": coordinated, "plain": plain}
	err = errors.Join(err, plainErr, experiment.Write(stdout, coordinated, plain), s.WriteTally(figures))
	switch {
	case err != nil:
		return err
	case len(coordinated.Broken) > 0:
		return fmt.Errorf("%d of %d rounds were not as they must be; what the runs said is in %s", len(coordinated.Broken), coordinated.Rounds, s.Out)
	case coordinated.Rounds < s.Wanted:
		return fmt.Errorf("only %d of %d rounds", coordinated.Rounds, s.Wanted)
	}
	return coordinated.Telling()
}

func tally(ctx context.Context, l *lab.Lab, s program.Rounds, wanted int, coordinated bool, progress lab.Progress) (experiment.Tally, error) {
	folder := "plain"
	if coordinated {
		folder = "coordinated"
	}
	series := experiment.Series(l, s.Seed, coordinated)
	program.Set(&series, s, wanted, folder, progress)
	results, err := series.Run(ctx)
	return experiment.TallyOf(results), err
}
