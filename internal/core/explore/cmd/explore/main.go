// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command explore searches the state space of the coordination protocol within
// bounds, and prints what it has seen.
//
//	explore [-budget short|long|N] [-seed N] [-config NAME] [-limit N] [-workers N] [-json FILE] [-finding FILE]
//	explore -replay FILE
//
// The exit code is 0 if every invariant holds, 1 if one breaks, or if a command
// was never tried in some status, and 2 if the command line is wrong. A
// counterexample is printed as a history and as a script for the stories of
// package admission; -finding keeps it in a file too, and -replay makes the
// history of such a file again and says what it breaks now.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/explore"
)

const (
	exitFound = 1
	exitUsage = 2
)

func main() {
	code, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "explore:", err)
	}
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	budget, config, json, finding, replay, profile string
	seed, limit, workers                           int
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.budget, "budget", "short", "how far: short, long, or how many times as far as short")
	f.IntVar(&o.seed, "seed", 0, "begin with the runs of this seed")
	f.StringVar(&o.config, "config", "", "explore only configurations whose name has this in it")
	f.IntVar(&o.limit, "limit", 0, "distinct states of one configuration at most; 0 for what the budget says")
	f.IntVar(&o.workers, "workers", 2, "configurations that are searched at a time")
	f.StringVar(&o.json, "json", "", "write the figures of a whole budget to this file")
	f.StringVar(&o.finding, "finding", "", "write a counterexample to this file")
	f.StringVar(&o.replay, "replay", "", "make the history of a counterexample in this file again, and nothing else")
	f.StringVar(&o.profile, "cpuprofile", "", "write a profile to this file")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is not an option", f.Arg(0))
	case o.seed < 0, o.limit < 0:
		return o, errors.New("-seed and -limit must not be negative")
	case o.workers < 1:
		return o, errors.New("-workers must be positive")
	case o.json != "" && o.partial():
		return o, errors.New("-json is for the figures of a whole budget: leave out -config and -limit")
	}
	return o, nil
}

// partial says whether less than a budget is searched.
func (o options) partial() bool { return o.config != "" || o.limit > 0 }

func run(args []string, stdout, stderr io.Writer) (int, error) {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitUsage, nil
	}
	if err != nil {
		return exitUsage, err
	}
	if o.replay != "" {
		return replay(o.replay, stdout)
	}
	x, err := o.campaign(stderr)
	if err != nil {
		return exitUsage, err
	}
	old, err := load(o.json)
	if err != nil {
		return exitUsage, err
	}
	stop, err := profile(o.profile)
	if err != nil {
		return exitUsage, err
	}
	debug.SetGCPercent(300) // what is known of a configuration lives as long as its search
	begin := time.Now()
	out := x.Run()
	stop()
	table(stdout, out, time.Since(begin))
	if err := old.save(o.json, out); err != nil {
		return exitUsage, err
	}
	return o.conclude(out, stdout)
}

// campaign is what to search, with its progress.
func (o options) campaign(stderr io.Writer) (explore.Campaign, error) {
	x, err := explore.Budget(o.budget, o.seed, o.config)
	if err != nil {
		return x, err
	}
	x.Workers = o.workers
	if o.limit > 0 {
		for i := range x.Jobs {
			x.Jobs[i].Limit = explore.Limit{Worlds: o.limit}
		}
	}
	begin, seen := time.Now(), explore.Stats{}
	x.Progress = func(c *explore.Config, s explore.Stats) {
		seen.Add(s)
		fmt.Fprintf(stderr, "%6.1fs %9d states %7d cores %8d edges %d capped; %d of %s\n",
			time.Since(begin).Seconds(), seen.States, seen.Cores, seen.Edges, seen.Capped, s.States, c.Name)
	}
	return x, nil
}

// conclude tells of a counterexample, and of pairs that a whole budget left out.
func (o options) conclude(out explore.Outcome, stdout io.Writer) (int, error) {
	switch {
	case out.Finding != nil:
		fmt.Fprintln(stdout, out.Finding)
		if o.finding == "" {
			return exitFound, nil
		}
		if err := write(o.finding, []byte(out.Finding.Error())); err != nil {
			return exitFound, err
		}
		fmt.Fprintf(stdout, "# kept in %s; explore -replay %s makes it again\n", o.finding, o.finding)
		return exitFound, nil
	case len(out.Missing) > 0 && !o.partial():
		return exitFound, errors.New("some commands were never tried in some status")
	default:
		return 0, nil
	}
}

// replay makes the history of a counterexample again.
func replay(file string, stdout io.Writer) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return exitUsage, err
	}
	f, err := explore.Parse(string(text))
	if err != nil {
		return exitUsage, fmt.Errorf("%s: %w", file, err)
	}
	again := f.Again()
	if again == nil {
		fmt.Fprintf(stdout, "nothing breaks any more in %s, after %d steps or as far as they are possible\n", f.Config.Name, len(f.History))
		return 0, nil
	}
	fmt.Fprintln(stdout, again)
	return exitFound, nil
}

// profile begins a profile of the processor time; nothing without a file.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	return pprof.StopCPUProfile, err
}

func table(w io.Writer, out explore.Outcome, took time.Duration) {
	fmt.Fprintf(w, "configurations   %d (%d capped)\n", out.Configs, out.Capped)
	fmt.Fprintf(w, "searched in full %d without mishaps, %d with one at most, %d with two\n", out.Full[0], out.Full[1], out.Full[2])
	fmt.Fprintf(w, "distinct states  %d\n", out.States)
	fmt.Fprintf(w, "core states      %d\n", out.Cores)
	fmt.Fprintf(w, "core transitions %d\n", out.Edges)
	fmt.Fprintf(w, "steps            %d\n", out.Steps)
	fmt.Fprintf(w, "command x status %d pairs, %d missing\n", len(out.Pairs), len(out.Missing))
	if len(out.Missing) > 0 {
		fmt.Fprintf(w, "never tried      %s\n", strings.Join(out.Missing, ", "))
	}
	fmt.Fprintf(w, "processor time   %.1f s, wall %.1f s\n", processor().Seconds(), took.Seconds())
}
