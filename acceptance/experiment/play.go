// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

const (
	roundLimit = 3 * time.Minute
	planFile   = "run.tfplan"
	stateFile  = "terraform.tfstate"
)

// play is a round that is going on.
type play struct {
	round  Round
	e      *lab.Experiment
	spaces map[string]*lab.Workspace
	runs   map[string]*lab.Run
	// begun is when each began to apply.
	begun map[string]time.Time
	asked map[string]*lab.Asked
}

// Played is a round that was carried out.
type Played struct {
	Result
	// Log is what the cloud logged.
	Log activity.Log
	// Lines are what the runs with saved plans said in JSON, by actor.
	Lines map[string][]lab.Line
	// Report is for people; it is only filled where something is broken.
	Report string
}

// Play carries a round out. An error is a round that could not be carried out; the
// report is filled then.
func Play(ctx context.Context, l *lab.Lab, r Round) (played Played, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	began := time.Now()
	e, err := l.Experiment(ctx, lab.Setup{Cloud: cloud()})
	if err != nil {
		return played, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p := &play{
		round: r, e: e, spaces: make(map[string]*lab.Workspace), runs: make(map[string]*lab.Run),
		begun: make(map[string]time.Time), asked: make(map[string]*lab.Asked),
	}
	if played, err = p.all(ctx); err != nil {
		played.Report = e.Report()
		return played, fmt.Errorf("%v: %w", r, err)
	}
	played.TookS = time.Since(began).Seconds()
	if len(played.Broken) > 0 {
		played.Report = e.Report()
	}
	return played, nil
}

func (p *play) all(ctx context.Context) (played Played, err error) {
	if err := p.prepare(ctx); err != nil {
		return played, err
	}
	if err := p.plan(ctx); err != nil {
		return played, err
	}
	if err := p.collide(ctx); err != nil {
		return played, err
	}
	if played.Log, err = p.e.Cloud.Log(); err != nil {
		return played, err
	}
	if played.Lines, err = p.lines(); err != nil {
		return played, err
	}
	played.Result = p.judge(played.Log, played.Lines)
	return played, nil
}

// lines are those of the runs with saved plans.
func (p *play) lines() (map[string][]lab.Line, error) {
	all := make(map[string][]lab.Line)
	if !p.round.Saved {
		return all, nil
	}
	for actor, run := range p.runs {
		lines, err := lab.Lines(run.Stdout())
		if err != nil {
			return nil, err
		}
		all[actor] = lines
	}
	return all, nil
}

// prepare makes the machine, which then is in three states: that of its owner and
// copies of it, as when somebody imported it.
func (p *play) prepare(ctx context.Context) (err error) {
	if err := p.e.Cloud.Furnish(ctx); err != nil {
		return err
	}
	for actor, hcl := range map[string]string{owner: before(), Replacer: p.round.after(), Destroyer: before()} {
		if p.spaces[actor], err = p.e.Workspace(ctx, actor, hcl); err != nil {
			return err
		}
	}
	made, err := p.spaces[owner].Terraform(ctx, "apply", "-auto-approve", "-no-color")
	if err != nil {
		return err
	}
	if err := made.MustSucceed(); err != nil {
		return err
	}
	state, err := os.ReadFile(filepath.Join(p.spaces[owner].Dir, stateFile))
	if err != nil {
		return fmt.Errorf("share the machine: %w", err)
	}
	return errors.Join(p.spaces[Replacer].Write(stateFile, string(state)), p.spaces[Destroyer].Write(stateFile, string(state)))
}

// plan lets both plan, at once.
func (p *play) plan(ctx context.Context) error {
	if p.round.Saved {
		return p.planToFiles(ctx)
	}
	for actor, command := range map[string]string{Replacer: "apply", Destroyer: "destroy"} {
		ask := (*lab.Workspace).AskTerraform
		args := []string{command, "-no-color"}
		if p.round.Coordinated {
			ask, args = (*lab.Workspace).AskTfweaver, append(args, "-weaver-intent="+purposeOf(actor))
		}
		asked, err := ask(p.spaces[actor], ctx, args...)
		if err != nil {
			return err
		}
		p.asked[actor], p.runs[actor] = asked, asked.Run
	}
	return errors.Join(p.asked[Replacer].AwaitPrompt(ctx), p.asked[Destroyer].AwaitPrompt(ctx))
}

func (p *play) planToFiles(ctx context.Context) error {
	var planning []*lab.Run
	for actor, args := range map[string][]string{Replacer: {"plan"}, Destroyer: {"plan", "-destroy"}} {
		run, err := p.starter()(p.spaces[actor], ctx, append(args, "-no-color", "-out="+planFile)...)
		if err != nil {
			return err
		}
		planning = append(planning, run)
	}
	for _, run := range planning {
		if err := run.Wait(); err != nil {
			return err
		}
		if err := run.MustSucceed(); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) starter() func(*lab.Workspace, context.Context, ...string) (*lab.Run, error) {
	if p.round.Coordinated {
		return (*lab.Workspace).StartTfweaver
	}
	return (*lab.Workspace).StartTerraform
}

// collide lets both begin, one after the other, and waits for both.
func (p *play) collide(ctx context.Context) error {
	first := Replacer
	if p.round.Lead < 0 {
		first = Destroyer
	}
	if err := p.begin(ctx, first); err != nil {
		return err
	}
	if err := sleep(ctx, p.round.Lead.Abs()); err != nil {
		return err
	}
	if err := p.begin(ctx, other(first)); err != nil {
		return err
	}
	for _, run := range p.runs {
		if err := run.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// begin lets an actor apply what it has planned.
func (p *play) begin(ctx context.Context, actor string) (err error) {
	p.begun[actor] = time.Now()
	if !p.round.Saved {
		return p.asked[actor].Approve()
	}
	args := []string{"apply", "-json"}
	if p.round.Coordinated {
		args = append(args, "-weaver-intent="+purposeOf(actor))
	}
	p.runs[actor], err = p.starter()(p.spaces[actor], ctx, append(args, planFile)...)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
