// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command kill ends processes at random moments in many small experiments and
// says what that breaks; see package killing. "make kill ROUNDS=500 SEED=1" runs
// it. It can be interrupted, and goes on where it was.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/acceptance/killing"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("kill", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := program.Rounds{Name: "kill", Wanted: 500}
	if err := s.Parse(args, stderr); err != nil {
		return err
	}
	return s.Play(ctx, stdout, stderr,
		func(ctx context.Context, l *lab.Lab) (any, string, error) {
			return killing.Play(ctx, l, killing.Draw(s.Seed, s.Only))
		},
		func(ctx context.Context, l *lab.Lab, progress lab.Progress) error {
			return all(ctx, l, s, progress, stdout)
		})
}

// all plays the series and shows the figures.
func all(ctx context.Context, l *lab.Lab, s program.Rounds, progress lab.Progress, stdout io.Writer) error {
	series := killing.Series(l, s.Seed)
	program.Set(&series, s, s.Wanted, "", progress)
	results, err := series.Run(ctx)
	tally := killing.TallyOf(results)
	err = errors.Join(err, tally.Write(stdout), s.WriteTally(tally))
	switch {
	case err != nil:
		return err
	case tally.Broken > 0:
		return fmt.Errorf("%d of %d rounds broke something; what they said is in %s", tally.Broken, tally.Kills, s.Out)
	case tally.Kills < s.Wanted:
		return fmt.Errorf("only %d of %d rounds hit their victim", tally.Kills, s.Wanted)
	}
	return nil
}
