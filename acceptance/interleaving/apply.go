// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// configuration is what both work with.
func (r Round) configuration() string {
	if r.Kind == Reimport {
		// What is out of the state for a moment must not be made again.
		return before() + subnet(made, 3) + subnet(last, 4)
	}
	return after()
}

// options of the run that is slipped into, but for how it is approved.
func (r Round) options() []string {
	options := []string{"-no-color", lockTimeout}
	if r.Kind == Reimport {
		options = append(options, "-target="+address(made), "-target="+address(last))
	}
	return options
}

// slipping are the commands of the plain Terraform.
func (r Round) slipping() [][]string {
	const plainly = "-no-color"
	switch r.Kind {
	case Apply:
		return [][]string{{"apply", "-auto-approve", plainly, lockTimeout, "-target=" + address(extra)}}
	case Destroy:
		return [][]string{{"destroy", "-auto-approve", plainly, lockTimeout, "-target=" + address(kept)}}
	case Reimport:
		id := arm.ChildID(arm.Subnet, arm.DefaultSubscription, lab.GroupName, net, kept).String()
		return [][]string{{"state", "rm", lockTimeout, address(kept)}, {"import", plainly, lockTimeout, address(kept), id}}
	default:
		return [][]string{{"refresh", plainly, lockTimeout}}
	}
}

// interleave starts the run, and the plain Terraform at its moment, and waits for
// both.
func (p *play) interleave(ctx context.Context) error {
	start := p.woven
	if !p.round.Woven {
		start = p.control
	}
	end, err := start(ctx)
	if err != nil {
		return err
	}
	slipped := make(chan error, 1)
	go func() { slipped <- p.slipIn(ctx) }()
	return errors.Join(end(), <-slipped)
}

// woven starts tfweaver; end waits for it, and approves if it asks.
func (p *play) woven(ctx context.Context) (end func() error, err error) {
	args := append([]string{"apply", "-weaver-intent=open the shop"}, p.round.options()...)
	if !p.round.Asks {
		p.run, err = p.spaces[first].StartTfweaver(ctx, append(args, "-auto-approve")...)
		p.begun = p.run
		return func() error { return p.run.Wait() }, err
	}
	asked, err := p.spaces[first].AskTfweaver(ctx, args...)
	if err != nil {
		return nil, err
	}
	p.run, p.begun = asked.Run, asked.Run
	return func() (err error) {
		p.result.Answers, err = asked.ApproveAlways(ctx, p.round.Answer)
		return errors.Join(err, p.run.Wait())
	}, nil
}

// control starts the two steps with the CLI alone.
func (p *play) control(ctx context.Context) (end func() error, err error) {
	w := p.spaces[first]
	p.begun, err = w.StartTerraform(ctx, append([]string{"plan", "-out=" + planFile}, p.round.options()...)...)
	p.run = p.begun
	return func() (err error) {
		if err := succeed(p.begun, p.begun.Wait()); err != nil {
			return err
		}
		if err := sleep(ctx, p.round.Answer); err != nil {
			return err
		}
		// One after another: nobody makes two subnets of one network wait for each
		// other here.
		p.run, err = w.Terraform(ctx, "apply", "-no-color", lockTimeout, "-parallelism=1", planFile)
		return err
	}, err
}

// shown is where a plan is shown, or that there is nothing to do.
var shown = regexp.MustCompile(`(?m)^(Plan: \d|No changes\.)`)

// slipIn waits for the moment and runs the plain Terraform. If the run ends before
// it shows a plan, that is the moment.
func (p *play) slipIn(ctx context.Context) error {
	if p.round.AfterPlan {
		err := lab.Await(ctx, p.begun.Name+" shows its plan", func() (bool, error) {
			return p.begun.Exited() || shown.MatchString(p.begun.Stdout()), nil
		})
		if err != nil {
			return err
		}
	}
	if err := sleep(ctx, p.round.Delay); err != nil {
		return err
	}
	for _, args := range p.round.slipping() {
		run, err := p.spaces[second].Terraform(ctx, args...)
		if err != nil {
			return err
		}
		p.plain = append(p.plain, run)
	}
	return nil
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
