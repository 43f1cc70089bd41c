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
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("replace", run) }

// settings are the command line.
type settings struct {
	rounds, plain, together, only int
	seed                          uint64
	out                           string
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("replace", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 100, "coordinated rounds")
	flags.IntVar(&s.plain, "plain", 20, "rounds with plain Terraform")
	flags.IntVar(&s.together, "together", 2, "rounds at a time")
	flags.IntVar(&s.only, "only", -1, "repeat this coordinated round alone, and note nothing")
	flags.Uint64Var(&s.seed, "seed", 1, "what the moments are drawn from")
	flags.StringVar(&s.out, "out", "build/replace", "folder for notes and reports; rounds that are noted there are not repeated")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.rounds < 1 || s.plain < 0 || s.together < 1 {
		return s, errors.New("-rounds and -together must be positive, and there are no arguments")
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	progress := program.Since(time.Now(), stderr)
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	if s.only >= 0 {
		return errors.Join(repeat(ctx, l, s, stdout), l.Close())
	}
	return errors.Join(series(ctx, l, s, progress, stdout), l.Close())
}

// series carries out both kinds of rounds and shows the figures.
func series(ctx context.Context, l *lab.Lab, s settings, progress lab.Progress, stdout io.Writer) error {
	coordinated, err := tally(ctx, l, s, s.rounds, true, progress)
	plain, plainErr := tally(ctx, l, s, s.plain, false, progress)
	err = errors.Join(err, plainErr, experiment.Write(stdout, coordinated, plain), figures(s, coordinated, plain))
	switch {
	case err != nil:
		return err
	case len(coordinated.Broken) > 0:
		return fmt.Errorf("%d of %d rounds were not as they must be; what the runs said is in %s", len(coordinated.Broken), coordinated.Rounds, s.out)
	case coordinated.Rounds < s.rounds:
		return fmt.Errorf("only %d of %d rounds", coordinated.Rounds, s.rounds)
	}
	return coordinated.Telling()
}

func tally(ctx context.Context, l *lab.Lab, s settings, wanted int, coordinated bool, progress lab.Progress) (experiment.Tally, error) {
	out := "plain"
	if coordinated {
		out = "coordinated"
	}
	series := experiment.Series(l, s.seed, coordinated)
	series.Wanted, series.Together, series.Out, series.Progress = wanted, s.together, filepath.Join(s.out, out), progress
	results, err := series.Run(ctx)
	return experiment.TallyOf(results), err
}

// repeat plays one round and shows all of it.
func repeat(ctx context.Context, l *lab.Lab, s settings, stdout io.Writer) error {
	played, err := experiment.Play(ctx, l, experiment.Draw(s.seed, s.only, true))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, played.Report)
	}
	return program.Show(stdout, played.Report, played.Result)
}

// figures writes the tallies beside the notes.
func figures(s settings, coordinated, plain experiment.Tally) error {
	return program.WriteFigures(s.out, fmt.Sprintf("seed-%d.json", s.seed), map[string]experiment.Tally{"coordinated": coordinated, "plain": plain})
}
