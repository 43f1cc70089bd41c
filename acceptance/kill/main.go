// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command kill ends processes at random moments in many small experiments and
// says what that breaks; see package killing. "make kill ROUNDS=500 SEED=1" runs
// it. It can be interrupted, and goes on where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/killing"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("kill", run) }

// settings are the command line.
type settings struct {
	rounds, together, only int
	seed                   uint64
	out                    string
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("kill", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 500, "how many runs to hit")
	flags.IntVar(&s.together, "together", 2, "experiments at a time")
	flags.IntVar(&s.only, "only", -1, "repeat this round alone, and note nothing")
	flags.Uint64Var(&s.seed, "seed", 1, "what the kinds, victims and moments are drawn from")
	flags.StringVar(&s.out, "out", "build/kill", "folder for notes and reports; rounds that are noted there are not repeated")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.rounds < 1 || s.together < 1 {
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
	series := killing.Series(l, s.seed)
	series.Wanted, series.Together, series.Out, series.Progress = s.rounds, s.together, s.out, progress
	results, err := series.Run(ctx)
	tally := killing.TallyOf(results)
	err = errors.Join(err, tally.Write(stdout), figures(s, tally), l.Close())
	if err == nil && tally.Broken > 0 {
		err = fmt.Errorf("%d of %d rounds broke something; what they said is in %s", tally.Broken, tally.Kills, s.out)
	}
	if err == nil && tally.Kills < s.rounds {
		err = fmt.Errorf("only %d of %d rounds hit their victim", tally.Kills, s.rounds)
	}
	return err
}

// repeat plays one round and shows all of it.
func repeat(ctx context.Context, l *lab.Lab, s settings, stdout io.Writer) error {
	result, report, err := killing.Play(ctx, l, killing.Draw(s.seed, s.only))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, report)
	}
	return program.Show(stdout, report, result)
}

// figures writes the tally beside the notes.
func figures(s settings, tally killing.Tally) error {
	return program.WriteFigures(s.out, fmt.Sprintf("seed-%d.json", s.seed), tally)
}
