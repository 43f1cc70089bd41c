// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/rounds"
)

// Rounds are the settings of a command that plays many rounds drawn from a seed,
// with and without what is tested. Its fields are the defaults before Parse.
type Rounds struct {
	// Name is that of the command.
	Name string
	// Wanted is how many rounds are played, Control how many without what is
	// tested; a command whose default for Control is 0 plays none.
	Wanted, Control int
	// Together is how many are played at a time.
	Together int
	// Only is the one round to repeat; negative for a whole series.
	Only int
	Seed uint64
	// Out is the folder for notes and reports.
	Out string
}

// Parse reads the command line.
func (r *Rounds) Parse(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet(r.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&r.Wanted, "rounds", r.Wanted, "how many rounds to play")
	if r.Control > 0 {
		flags.IntVar(&r.Control, "control", r.Control, "how many rounds to play without tfweaver")
	}
	flags.IntVar(&r.Together, "together", 2, "rounds at a time")
	flags.IntVar(&r.Only, "only", -1, "repeat this round alone, and note nothing")
	flags.Uint64Var(&r.Seed, "seed", 1, "what the rounds are drawn from")
	flags.StringVar(&r.Out, "out", filepath.Join("build", r.Name), "folder for notes and reports; rounds that are noted there are not repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || r.Wanted < 1 || r.Control < 0 || r.Together < 1 {
		return errors.New("-rounds and -together must be positive, -control not negative, and there are no arguments")
	}
	return nil
}

// Play opens a lab, and there repeats one round or plays the series, as the
// settings say. The one round is shown whole.
func (r Rounds) Play(ctx context.Context, stdout, stderr io.Writer,
	one func(ctx context.Context, l *lab.Lab) (result any, report string, err error),
	all func(ctx context.Context, l *lab.Lab, progress lab.Progress) error,
) (err error) {
	progress := Since(time.Now(), stderr)
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if r.Only < 0 {
		return all(ctx, l, progress)
	}
	result, report, err := one(ctx, l)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, report)
	}
	return Show(stdout, report, result)
}

// Set gives a series what the settings say, for so many rounds. Its notes are in
// the named folder below Out, or in Out itself.
func Set[O rounds.Outcome](s *rounds.Series[O], r Rounds, wanted int, folder string, progress lab.Progress) {
	s.Wanted, s.Together, s.Out, s.Progress = wanted, r.Together, filepath.Join(r.Out, folder), progress
}

// WriteTally writes figures beside the notes.
func (r Rounds) WriteTally(figures any) error {
	return WriteFigures(r.Out, fmt.Sprintf("seed-%d.json", r.Seed), figures)
}
