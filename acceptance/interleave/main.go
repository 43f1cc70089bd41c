// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command interleave lets a plain Terraform slip into applies of tfweaver on the
// same state, at random moments; see package interleaving. "make interleave
// ROUNDS=100 SEED=1" runs it. It can be interrupted, and goes on where it was.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfweaver/tfweaver/acceptance/interleaving"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("interleave", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := program.Rounds{Name: "interleave", Wanted: 100, Control: 20}
	if err := s.Parse(args, stderr); err != nil {
		return err
	}
	return s.Play(ctx, stdout, stderr,
		func(ctx context.Context, l *lab.Lab) (any, string, error) {
			return interleaving.Play(ctx, l, interleaving.Draw(s.Seed, s.Only, true))
		},
		func(ctx context.Context, l *lab.Lab, progress lab.Progress) error {
			return series(ctx, l, s, progress, stdout)
		})
}

// series carries out both kinds of rounds and shows the figures.
func series(ctx context.Context, l *lab.Lab, s program.Rounds, progress lab.Progress, stdout io.Writer) error {
	woven, err := tally(ctx, l, s, s.Wanted, true, progress)
	control, controlErr := tally(ctx, l, s, s.Control, false, progress)
	figures := map[string]interleaving.Tally{"tfweaver": woven, "two_steps_of_the_cli": control}
	err = errors.Join(err, controlErr, interleaving.Write(stdout, woven, control), s.WriteTally(figures))
	switch {
	case err != nil:
		return err
	case len(woven.Broken) > 0:
		return fmt.Errorf("%d of %d rounds were not as they must be; what the runs said is in %s", len(woven.Broken), woven.Rounds, s.Out)
	case woven.Rounds < s.Wanted:
		return fmt.Errorf("only %d of %d rounds", woven.Rounds, s.Wanted)
	case control.Rounds >= 8 && control.Stale == 0:
		return errors.New("no plan of the control went stale: the rounds provoke nothing")
	}
	return woven.Telling()
}

func tally(ctx context.Context, l *lab.Lab, s program.Rounds, wanted int, woven bool, progress lab.Progress) (interleaving.Tally, error) {
	folder := "control"
	if woven {
		folder = "tfweaver"
	}
	series := interleaving.Series(l, s.Seed, woven)
	program.Set(&series, s, wanted, folder, progress)
	results, err := series.Run(ctx)
	return interleaving.TallyOf(results), err
}
