// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

const (
	roundLimit = 4 * time.Minute
	// lockTimeout is how long both wait for Terraform's own lock.
	lockTimeout = "-lock-timeout=60s"
	planFile    = "run.tfplan"
	stateFile   = "terraform.tfstate"
	stateName   = "net"
)

// play is a round that is going on.
type play struct {
	round  Round
	e      *lab.Experiment
	store  *lab.StateStore
	spaces map[string]*lab.Workspace
	// begun is what is slipped into, run what it ends with: the same, but for the
	// control, where they are the two steps.
	begun, run *lab.Run
	plain      []*lab.Run
	// base is how many versions the state had before the round.
	base   int
	result Result
}

// Play carries a round out. An error is a round that could not be carried out; the
// report is for people, and filled then and where something is broken.
func Play(ctx context.Context, l *lab.Lab, r Round) (result Result, report string, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	began := time.Now()
	store, err := lab.StartStateStore(nil)
	if err != nil {
		return result, "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	e, err := l.Experiment(ctx, lab.Setup{Cloud: cloud()})
	if err != nil {
		return result, "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p := &play{round: r, e: e, store: store, spaces: make(map[string]*lab.Workspace), result: resultOf(r)}
	if err := errors.Join(p.prepare(ctx), ctx.Err()); err != nil {
		return p.result, e.Report(), fmt.Errorf("%v: %w", r, err)
	}
	if err := p.interleave(ctx); err != nil {
		return p.result, e.Report(), fmt.Errorf("%v: %w", r, err)
	}
	if err := p.judge(ctx); err != nil {
		return p.result, e.Report(), fmt.Errorf("%v: %w", r, err)
	}
	p.result.TookS = time.Since(began).Seconds()
	if len(p.result.Broken) > 0 {
		report = e.Report()
	}
	return p.result, report, nil
}

// prepare makes what is there before, with the plain CLI.
func (p *play) prepare(ctx context.Context) error {
	if err := p.e.Cloud.Furnish(ctx); err != nil {
		return err
	}
	if err := p.workspaces(ctx, before()); err != nil {
		return err
	}
	if err := succeed(p.spaces[second].Terraform(ctx, "apply", "-auto-approve", "-no-color")); err != nil {
		return err
	}
	p.base = len(p.store.Versions(stateName))
	if p.round.Kind == Refresh {
		if err := p.drift(ctx); err != nil {
			return err
		}
	}
	return errors.Join(p.spaces[first].Configure(p.round.configuration()), p.spaces[second].Configure(p.round.configuration()))
}

// workspaces makes one folder for both if the state is a file in it, and else one
// for each.
func (p *play) workspaces(ctx context.Context, hcl string) (err error) {
	if !p.round.Remote {
		w, err := p.e.Workspace(ctx, first, hcl)
		if err != nil {
			return err
		}
		other := *w
		other.Actor = second
		p.spaces[first], p.spaces[second] = w, &other
		return nil
	}
	for _, actor := range []string{first, second} {
		if p.spaces[actor], err = p.e.WorkspaceOn(ctx, p.store, stateName, actor, hcl); err != nil {
			return err
		}
	}
	return nil
}

// drift changes the tags of the network past Terraform.
func (p *play) drift(ctx context.Context) error {
	hand, err := p.e.Cloud.Client("hand")
	if err != nil {
		return err
	}
	defer hand.Close()
	there := arm.Resource{Location: lab.Location, Tags: map[string]string{"team": "by hand"}}
	there.Properties.AddressSpace = &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/16"}}
	_, err = hand.Put(ctx, arm.TopID(arm.VirtualNetwork, arm.DefaultSubscription, lab.GroupName, net), there, "")
	return err
}

func succeed(r *lab.Run, err error) error {
	if err != nil {
		return err
	}
	return r.MustSucceed()
}
