// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

const (
	// lease is that of all sessions: short, but not so short that a busy machine
	// loses one without a kill.
	lease = 5 * time.Second
	// resumeLimit is how long after a kill those may be held up who have nothing
	// to do with it.
	resumeLimit = lease + 5*time.Second
	// endLimit is how long after a kill everybody must have ended.
	endLimit = time.Minute
	// waitLimit is how long a session waits for others.
	waitLimit = endLimit - 10*time.Second
	// roundLimit bounds a whole round.
	roundLimit = 3 * time.Minute
	// restartAfter is how long whoever looks after a daemon needs to start it again.
	restartAfter = 300 * time.Millisecond
)

// play is a round that is going on.
type play struct {
	round   Round
	e       *lab.Experiment
	daemon  *lab.Run
	runs    map[string]*lab.Run
	spaces  map[string]*lab.Workspace
	started time.Time
	// terminal or handled is the victim's run, where it is to get a signal.
	terminal *lab.Terminal
	handled  *lab.Handled
	// thaw lets a frozen coordinator go on; nil where none is.
	thaw func() error
	// killed is when the victim was hit; zero if it had ended before.
	killed time.Time
	result Result
}

// Play carries a round out. What must not be is in the result; an error is a
// round that could not be carried out. report is for people, and only filled
// where something is broken.
func Play(ctx context.Context, l *lab.Lab, r Round) (result Result, report string, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	began := time.Now()
	e, err := l.Experiment(ctx, lab.Setup{Cloud: cloud()})
	if err != nil {
		return result, "", err
	}
	p := &play{
		round: r, e: e, runs: make(map[string]*lab.Run), spaces: make(map[string]*lab.Workspace),
		result: Result{Round: r.Number, Seed: r.Seed, Kind: r.Kind, Victim: r.Victim, Moment: r.Moment, Drawn: r.String()},
	}
	defer func() { err = errors.Join(err, p.melt(), e.Close()) }()
	if err := p.all(ctx); err != nil {
		return p.result, e.Report(), fmt.Errorf("%v: %w", r, err)
	}
	p.result.TookS = time.Since(began).Seconds()
	if len(p.result.Broken) > 0 {
		report = e.Report()
	}
	return p.result, report, nil
}

// all goes through the round and judges it.
func (p *play) all(ctx context.Context) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if err := p.startSessions(ctx); err != nil {
		return err
	}
	if err := p.kill(ctx); err != nil {
		return err
	}
	if p.killed.IsZero() {
		return nil // the victim was faster; Close ends what still runs
	}
	if err := p.startLatecomers(ctx); err != nil {
		return err
	}
	if p.awaitAll(ctx) {
		return p.judge(ctx)
	}
	return nil
}

// prepare makes the networks and everybody's workspace.
func (p *play) prepare(ctx context.Context) (err error) {
	if err := p.e.Cloud.Furnish(ctx, left, right); err != nil {
		return err
	}
	for _, s := range append(sessions(), bystander(), rival(p.round)) {
		if p.spaces[s.name], err = p.e.Workspace(ctx, s.name, s.hcl); err != nil {
			return err
		}
	}
	if p.round.Kind == Daemon {
		p.daemon, err = p.e.StartDaemon(ctx)
	}
	return err
}

// startSessions starts those of which one will be hit, each after its time.
func (p *play) startSessions(ctx context.Context) error {
	p.started = time.Now()
	order := sessions()
	for len(order) > 0 {
		next := 0
		for n := range order {
			if p.startOf(order[n].name).Before(p.startOf(order[next].name)) {
				next = n
			}
		}
		if err := sleepUntil(ctx, p.startOf(order[next].name)); err != nil {
			return err
		}
		if err := p.start(ctx, order[next].name); err != nil {
			return err
		}
		order = append(order[:next], order[next+1:]...)
	}
	return nil
}

// startOf is when a session is due.
func (p *play) startOf(name string) time.Time {
	for n, s := range sessions() {
		if s.name == name {
			return p.started.Add(p.round.Stagger[n])
		}
	}
	return p.started
}

// startLatecomers starts the bystander and the rival. A daemon is started again
// before that: nothing else would.
func (p *play) startLatecomers(ctx context.Context) (err error) {
	if p.round.Kind == Daemon {
		if err := sleepUntil(ctx, p.killed.Add(restartAfter)); err != nil {
			return err
		}
		if p.daemon, err = p.e.StartDaemon(ctx); err != nil {
			return err
		}
	}
	if err := p.start(ctx, bystander().name); err != nil {
		return err
	}
	return p.start(ctx, rival(p.round).name)
}

// awaitAll waits for the end of all runs, and says whether it came.
func (p *play) awaitAll(ctx context.Context) bool {
	ctx, cancel := context.WithDeadline(ctx, p.killed.Add(endLimit))
	defer cancel()
	all := true
	for name, r := range p.runs {
		select {
		case <-r.Done():
		case <-ctx.Done():
			p.result.broke("%s has not ended %v after the kill", name, endLimit)
			all = false
		}
	}
	return all
}

func sleepUntil(ctx context.Context, when time.Time) error {
	timer := time.NewTimer(time.Until(when))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
