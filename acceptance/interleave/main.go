// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command interleave lets a plain Terraform slip into applies of tfweaver on the
// same state, at random moments; see package interleaving. "make interleave
// ROUNDS=100 SEED=1" runs it. It can be interrupted, and goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/interleaving"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("interleave", run) }

// settings are the command line.
type settings struct {
	rounds, control, together, only int
	seed                            uint64
	out                             string
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("interleave", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 100, "rounds with tfweaver")
	flags.IntVar(&s.control, "control", 20, "rounds with the same two steps of the CLI alone")
	flags.IntVar(&s.together, "together", 2, "rounds at a time")
	flags.IntVar(&s.only, "only", -1, "repeat this round alone, and note nothing")
	flags.Uint64Var(&s.seed, "seed", 1, "what the moments are drawn from")
	flags.StringVar(&s.out, "out", "build/interleave", "folder for notes and reports; rounds that are noted there are not repeated")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.rounds < 1 || s.control < 0 || s.together < 1 {
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
	woven, err := tally(ctx, l, s, s.rounds, true, progress)
	control, controlErr := tally(ctx, l, s, s.control, false, progress)
	figures := map[string]interleaving.Tally{"tfweaver": woven, "two_steps_of_the_cli": control}
	err = errors.Join(err, controlErr, interleaving.Write(stdout, woven, control),
		program.WriteFigures(s.out, fmt.Sprintf("seed-%d.json", s.seed), figures))
	switch {
	case err != nil:
		return err
	case len(woven.Broken) > 0:
		return fmt.Errorf("%d of %d rounds were not as they must be; what the runs said is in %s", len(woven.Broken), woven.Rounds, s.out)
	case woven.Rounds < s.rounds:
		return fmt.Errorf("only %d of %d rounds", woven.Rounds, s.rounds)
	case control.Rounds >= 8 && control.Stale == 0:
		return errors.New("no plan of the control went stale: the rounds provoke nothing")
	}
	return woven.Telling()
}

func tally(ctx context.Context, l *lab.Lab, s settings, wanted int, woven bool, progress lab.Progress) (interleaving.Tally, error) {
	out := "control"
	if woven {
		out = "tfweaver"
	}
	series := interleaving.Series(l, s.seed, woven)
	series.Wanted, series.Together, series.Out, series.Progress = wanted, s.together, filepath.Join(s.out, out), progress
	results, err := series.Run(ctx)
	return interleaving.TallyOf(results), err
}

// repeat plays one round and shows all of it.
func repeat(ctx context.Context, l *lab.Lab, s settings, stdout io.Writer) error {
	result, report, err := interleaving.Play(ctx, l, interleaving.Draw(s.seed, s.only, true))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, report)
	}
	return program.Show(stdout, report, result)
}
