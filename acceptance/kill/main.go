// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command kill ends processes at random moments in many small experiments and
// says what that breaks; see package killing. "make kill ROUNDS=300 SEED=1" runs
// it. It can be interrupted, and goes on where it was.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/killing"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

// settings are the command line.
type settings struct {
	rounds, together, only int
	seed                   uint64
	out                    string
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("kill", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 300, "how many processes to kill")
	flags.IntVar(&s.together, "together", 2, "experiments at a time")
	flags.IntVar(&s.only, "only", -1, "repeat this round alone, and note nothing")
	flags.Uint64Var(&s.seed, "seed", 1, "what the moments and targets are drawn from")
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
	start := time.Now()
	progress := func(format string, a ...any) {
		fmt.Fprintf(stderr, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, a...))
	}
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
		err = fmt.Errorf("only %d of %d kills", tally.Kills, s.rounds)
	}
	return err
}

// repeat plays one round and shows all of it.
func repeat(ctx context.Context, l *lab.Lab, s settings, stdout io.Writer) error {
	result, report, err := killing.Play(ctx, l, killing.Draw(s.seed, s.only))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, report)
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n%s\n", report, text)
	return err
}

// figures writes the tally beside the notes.
func figures(s settings, tally killing.Tally) error {
	text, err := json.MarshalIndent(tally, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the tally: %w", err)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("write the tally: %w", err)
	}
	return os.WriteFile(filepath.Join(s.out, fmt.Sprintf("seed-%d.json", s.seed)), append(text, '\n'), 0o644)
}
