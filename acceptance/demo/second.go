// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/acceptance/experiment"
	"github.com/tfweaver/tfweaver/acceptance/fleet"
	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/timeline"
)

// collision are the figures of destroy versus replace, in the form of result.json.
type collision struct {
	Rounds int `json:"rounds"`
	// Lost counts the rounds in which both runs ended with 0 and one of the two
	// purposes was lost.
	Lost int `json:"lost_intents"`
	// Attributed counts the rounds in which the first thing that the second run was
	// told names the purpose of the first.
	Attributed int `json:"attributed_first_report"`
}

func collisionOf(t experiment.Tally) collision {
	return collision{Rounds: t.Rounds, Lost: t.Lost, Attributed: t.Attributed}
}

// SecondPart is what the second part of the demo adds to result.json.
type SecondPart struct {
	// Collision is that of coordinated runs, PlainCollision the baseline.
	Collision      collision `json:"destroy_vs_replace"`
	PlainCollision collision `json:"destroy_vs_replace_plain"`
	// Fleets are twelve and twelve processors of twenty, plain and coordinated.
	Fleets []fleet.Figure `json:"twelve_and_twelve_of_twenty"`
}

// How many rounds of destroy versus replace the demo shows; together is how many
// go on at a time. "make replace" has more.
const (
	coordinatedRounds = 8
	plainRounds       = 4
	together          = 2
)

// second lets runs collide over one machine and over a quota, and adds what came of
// it to the result. It is an error when it is not as it must be.
func second(ctx context.Context, l *lab.Lab, s settings, result *document, progress lab.Progress, stdout io.Writer) error {
	plain, panel, err := collide(ctx, l, s, false, progress)
	if err != nil {
		return err
	}
	coordinated, next, err := collide(ctx, l, s, true, progress)
	if err != nil {
		return err
	}
	panels := append(panel, next...)
	plainFleet, err := fleets(ctx, l, s, false, progress)
	if err != nil {
		return err
	}
	coordinatedFleet, err := fleets(ctx, l, s, true, progress)
	if err != nil {
		return err
	}
	panels = append(panels, fleetPanel(plainFleet), fleetPanel(coordinatedFleet))
	result.SecondPart = &SecondPart{
		Collision: collisionOf(coordinated), PlainCollision: collisionOf(plain),
		Fleets: []fleet.Figure{plainFleet.Figure, coordinatedFleet.Figure},
	}
	return errors.Join(
		writeResult(s.out, *result),
		writeDrawing(s.out, "collisions.svg", "Two collisions", collisionsSubtitle, panels),
		timeline.Text(stdout, panels, textWidth),
		space(stdout), experiment.Write(stdout, coordinated, plain),
		checkCollisions(coordinated, plain), fleet.Check(plainFleet.Figure, coordinatedFleet.Figure),
	)
}

func space(out io.Writer) error {
	_, err := fmt.Fprintln(out)
	return err
}

// drawn is the round of which a picture is made: the plans are saved, the machine
// is deleted first, and the replacer leads.
const drawn = 2

// collide carries rounds out on fresh clouds. The panel is that of one of them.
func collide(ctx context.Context, l *lab.Lab, s settings, coordinated bool, progress lab.Progress) (tally experiment.Tally, panels []timeline.Panel, err error) {
	name, wanted := "plain", plainRounds
	if coordinated {
		name, wanted = "coordinated", coordinatedRounds
	}
	progress("destroy versus replace, %s: %d rounds", name, wanted)
	series := experiment.Series(l, s.seed, coordinated)
	series.Wanted, series.Together, series.Out = wanted, together, filepath.Join(s.out, "destroy-vs-replace", name)
	series.Progress = func(string, ...any) {}
	series.Play = func(ctx context.Context, number int) (experiment.Result, string, error) {
		played, err := experiment.Play(ctx, l, experiment.Draw(s.seed, number, coordinated))
		if number == drawn && err == nil {
			panels = append(panels, collisionPanel(name, played)) // only one round has this number
		}
		return played.Result, played.Report, err
	}
	if err := os.RemoveAll(series.Out); err != nil { // every demo plays its own
		return tally, nil, fmt.Errorf("remove the rounds of the last demo: %w", err)
	}
	results, err := series.Run(ctx)
	tally = experiment.TallyOf(results)
	progress("destroy versus replace, %s: a purpose lost in %d of %d rounds", name, tally.Lost, tally.Rounds)
	return tally, panels, err
}

func checkCollisions(coordinated, plain experiment.Tally) error {
	var errs []error
	if plain.Lost == 0 {
		errs = append(errs, errors.New("destroy versus replace, plain: expected that a purpose is lost in some round; found none"))
	}
	for round, what := range coordinated.Broken {
		errs = append(errs, fmt.Errorf("destroy versus replace, coordinated, round %d: %q", round, what))
	}
	return errors.Join(errs...)
}

func fleets(ctx context.Context, l *lab.Lab, s settings, coordinated bool, progress lab.Progress) (fleet.Trace, error) {
	name := "plain"
	if coordinated {
		name = "coordinated"
	}
	log := filepath.Join(s.out, "twelve-and-twelve", name, "activity.jsonl")
	if err := errors.Join(os.RemoveAll(filepath.Dir(log)), os.MkdirAll(filepath.Dir(log), 0o755)); err != nil {
		return fleet.Trace{}, fmt.Errorf("make room for the log: %w", err)
	}
	t, err := fleet.Run(ctx, fleet.Config{Lab: l, Coordinated: coordinated, Scale: s.scale, LogFile: log})
	if err != nil {
		return t, fmt.Errorf("twelve and twelve of twenty, %s: %w", name, err)
	}
	progress("twelve and twelve of twenty, %s: machines %v, %d refused by the cloud", name, t.Machines, t.RefusedAtCloud)
	return t, nil
}
