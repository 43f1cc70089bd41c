// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command measure measures what the project promises, with real processes, and
// writes the figures as JSON: the makespans and refusals of the paper's
// validation at full scale, and the idle gaps of sessions that line up for one
// network, what applies on one state cost that line up for it, what becomes of
// purposes that collide over one machine, and how soon others go on after a kill.
// Run it on a machine that does nothing else; it takes a few minutes. -only chooses
// parts of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/killing"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/lineup"
	"github.com/tfweaver/tfweaver/acceptance/program"
	"github.com/tfweaver/tfweaver/acceptance/validation"
)

func main() { program.Main("measure", run) }

// settings are the command line.
type settings struct {
	out    string
	scale  float64
	rounds int
	// collisions and kills are rounds of destroy versus replace and of kill -9.
	collisions, kills int
	// states are rounds of applies on one state.
	states int
	// only chooses parts by name.
	only *regexp.Regexp
}

// Report is what is written, in the form of figures.json.
type Report struct {
	CLI        string            `json:"cli"`
	CPUs       int               `json:"cpus"`
	Measured   time.Time         `json:"measured"`
	Validation validation.Result `json:"validation"`
	LineUp     LineUp            `json:"line_up"`
	// OneState are applies on one state.
	OneState OneState `json:"one_state"`
	// Collisions are rounds in which one run replaces a machine that another one
	// destroys, coordinated and plain.
	Collisions Collisions `json:"destroy_vs_replace"`
	// Kills are kill -9 at random moments.
	Kills killing.Tally `json:"kills"`
}

// Collisions are the tallies of destroy versus replace.
type Collisions struct {
	Coordinated experiment.Tally `json:"coordinated"`
	Plain       experiment.Tally `json:"plain"`
}

// LineUp is the figure of six sessions that line up, over all rounds.
type LineUp struct {
	Rounds   int `json:"rounds"`
	Sessions int `json:"sessions"`
	// InOrder counts the rounds that ran first come, first served.
	InOrder int `json:"in_order"`
	Refused int `json:"refused_at_cloud"`
	// The idle gaps, in milliseconds; the provider polls every 50 ms, which is
	// part of them.
	GapP50Millis float64 `json:"gap_p50_ms"`
	GapMaxMillis float64 `json:"gap_max_ms"`
	// TogetherS is how long all sessions take that are started at once under
	// tfweaver, OneByOneS how long plain Terraform takes for one after another,
	// in seconds from the start of the first process to the end of the last.
	TogetherS float64 `json:"together_s"`
	OneByOneS float64 `json:"one_by_one_s"`
}

const sessions = 6

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.out, "out", "build/measure", "folder for the figures and logs")
	flags.Float64Var(&s.scale, "scale", 1, "factor on the cloud's latencies in the validation")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds of six sessions that line up")
	flags.IntVar(&s.collisions, "collisions", 20, "rounds of destroy versus replace")
	flags.IntVar(&s.kills, "kills", 25, "rounds of kill -9")
	flags.IntVar(&s.states, "states", 3, "rounds of six applies on one state")
	only := flags.String("only", "", "regular expression that chooses parts: line-up, state, validation, collisions, kills")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.scale <= 0 || s.rounds < 1 || s.collisions < 1 || s.kills < 1 || s.states < 1 {
		return errors.New("-scale, -rounds, -states, -collisions and -kills must be positive")
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	progress := program.Since(time.Now(), stderr)
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	report, err := measure(ctx, l, s, progress)
	return errors.Join(err, write(report, s, stdout), l.Close())
}

// measure runs everything; what was measured before an error is in the report.
func measure(ctx context.Context, l *lab.Lab, s settings, progress lab.Progress) (r Report, err error) {
	r = Report{CLI: l.CLI.String(), CPUs: runtime.NumCPU(), Measured: time.Now().UTC()}
	for _, part := range []struct {
		name string
		of   func() error
	}{
		{"line-up", func() error { r.LineUp, err = lineUps(ctx, l, s.rounds, progress); return err }},
		{"state", func() error { r.OneState, err = oneState(ctx, l, s.states, progress); return err }},
		{"validation", func() error {
			r.Validation, _, err = validation.Run(ctx, validation.Config{Lab: l, Scale: s.scale, Out: s.out, Progress: progress})
			return err
		}},
		{"collisions", func() error {
			if r.Collisions.Coordinated, err = collide(ctx, l, s.collisions, true, progress); err != nil {
				return err
			}
			r.Collisions.Plain, err = collide(ctx, l, s.collisions, false, progress)
			return err
		}},
		{"kills", func() error { r.Kills, err = kill(ctx, l, s.kills, progress); return err }},
	} {
		if !s.only.MatchString(part.name) {
			continue
		}
		if err := part.of(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// seed is that of rounds drawn by chance.
const seed = 1

func collide(ctx context.Context, l *lab.Lab, rounds int, coordinated bool, progress lab.Progress) (experiment.Tally, error) {
	series := experiment.Series(l, seed, coordinated)
	series.Wanted, series.Progress = rounds, progress
	results, err := series.Run(ctx)
	return experiment.TallyOf(results), err
}

func kill(ctx context.Context, l *lab.Lab, rounds int, progress lab.Progress) (killing.Tally, error) {
	series := killing.Series(l, seed)
	series.Wanted, series.Progress = rounds, progress
	results, err := series.Run(ctx)
	return killing.TallyOf(results), err
}

// lineUps repeats the line-up on fresh clouds.
func lineUps(ctx context.Context, l *lab.Lab, rounds int, progress lab.Progress) (LineUp, error) {
	sum := LineUp{Sessions: sessions}
	var gaps []time.Duration
	for round := range rounds {
		r, err := onFresh(ctx, l, lineup.Setup(8*time.Second, time.Second), lineup.Run)
		if err != nil {
			return sum, fmt.Errorf("round %d of %d sessions that line up: %w", round+1, sessions, err)
		}
		progress("%d sessions lined up: idle gaps %v", sessions, r.Gaps)
		gaps = append(gaps, r.Gaps...)
		sum.Rounds++
		sum.Refused += r.Refused
		if fmt.Sprint(r.Queue) == fmt.Sprint(r.Ran) {
			sum.InOrder++
		}
	}
	sum.GapP50Millis, sum.GapMaxMillis = millis(lab.Percentile(gaps, 0.5)), millis(lab.Percentile(gaps, 1))
	return sum, walls(ctx, l, &sum, progress)
}

// wallSubnet is how long a subnet write takes where whole runs are compared.
const wallSubnet = 2 * time.Second

// walls compares the sessions started together with one after another.
func walls(ctx context.Context, l *lab.Lab, sum *LineUp, progress lab.Progress) error {
	setup := lineup.Setup(time.Second, wallSubnet)
	oneByOne, err := onFresh(ctx, l, setup, lineup.OneByOne)
	if err != nil {
		return err
	}
	together, err := onFresh(ctx, l, setup, lineup.Together)
	if err != nil {
		return err
	}
	progress("%d sessions take %.2f s together, %.2f s one by one", sessions, together.Seconds(), oneByOne.Seconds())
	sum.TogetherS, sum.OneByOneS = together.Seconds(), oneByOne.Seconds()
	return nil
}

// onFresh runs a scenario of six sessions in an experiment of its own.
func onFresh[R any](ctx context.Context, l *lab.Lab, setup lab.Setup, scenario func(context.Context, *lab.Experiment, int) (R, error)) (r R, err error) {
	e, err := l.Experiment(ctx, setup)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return scenario(ctx, e, sessions)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// write puts the report into the folder and on standard output. One of some parts
// alone does not take the place of a whole one.
func write(r Report, s settings, stdout io.Writer) error {
	file := "figures.json"
	if s.only.String() != "" {
		file = "part.json"
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "%s\n", text)
	return errors.Join(err, program.WriteFigures(s.out, file, r))
}
