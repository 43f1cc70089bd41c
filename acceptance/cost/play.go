// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// runner runs one of the two to its end.
type runner func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error)

// player is one of the two, in a place of its own.
type player struct {
	run   runner
	place *lab.Workspace
	of    *lab.Experiment
}

// play measures a scene, turn about.
func (s scene) play(ctx context.Context, l *lab.Lab, rounds int, progress lab.Progress) (f figure, err error) {
	f = figure{Scene: s.name, Bar: s.bar}
	// Nobody writes to the disk for the cloud, which is no part of the question.
	e, err := l.Experiment(ctx, lab.Setup{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	plain, err := s.stage(ctx, e, "plain")
	if err != nil {
		return f, err
	}
	weaver, err := s.stage(ctx, e, "weaver")
	if err != nil {
		return f, err
	}
	players := []player{
		{run: (*lab.Workspace).StartTerraform, place: plain, of: e},
		{run: (*lab.Workspace).StartTfweaver, place: weaver, of: e},
	}
	for round := range rounds {
		for i, p := range players {
			took, err := p.play(ctx, s, round)
			if err != nil {
				return f, err
			}
			if i == 0 {
				f.Plain = append(f.Plain, took)
			} else {
				f.Tfweaver = append(f.Tfweaver, took)
			}
		}
		progress("%s, %d of %d: %.2f s of processor time plain, %.2f s with tfweaver", s.name, round+1, rounds, f.Plain[round].CPU, f.Tfweaver[round].CPU)
	}
	f.Ratio = median(f.Tfweaver, cpu) / median(f.Plain, cpu)
	return f, nil
}

// play plays a scene once; the objects of an earlier round stay behind.
func (p player) play(ctx context.Context, s scene, round int) (one, error) {
	if round == 0 || !s.once {
		if err := afresh(p.place, round); err != nil {
			return one{}, err
		}
		for _, args := range s.before {
			if _, err := p.measure(ctx, args); err != nil {
				return one{}, err
			}
		}
	}
	return p.measure(ctx, s.args)
}

// measure runs a command to its end.
func (p player) measure(ctx context.Context, args []string) (one, error) {
	coordinator, err := p.of.CoordinatorPID()
	if err != nil {
		return one{}, err
	}
	before := worked(coordinator)
	run, err := p.run(p.place, ctx, args...)
	if err != nil {
		return one{}, err
	}
	most, err := peak(run)
	if err != nil {
		return one{}, err
	}
	if err := run.MustSucceed(); err != nil {
		return one{}, err
	}
	took := one{CPU: run.CPU().Seconds(), Wall: run.Elapsed().Seconds(), FirstWord: run.FirstWord().Seconds(), Memory: most}
	after, err := p.of.CoordinatorPID()
	if err != nil {
		return one{}, err
	}
	if after != coordinator {
		before = 0 // this run has started it
	}
	took.CPU += (worked(after) - before).Seconds()
	return took, nil
}
