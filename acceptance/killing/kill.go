// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// lookPeriod is how often a process is looked for that is not there yet.
const lookPeriod = 5 * time.Millisecond

// kill hits the victim when its time has come; a process that is to be killed as
// soon as it exists. It does nothing if the session has ended before that.
func (p *play) kill(ctx context.Context) error {
	from := p.started
	if p.round.Victim != "" {
		from = p.startOf(p.round.Victim)
	}
	due := from
	if p.round.Moment != AnyTime && p.round.Moment != Starting {
		if err := p.awaitMoment(ctx); err != nil {
			return err
		}
		due = time.Now()
	}
	if err := sleepUntil(ctx, due.Add(p.round.Delay)); err != nil {
		return err
	}
	if slices.Contains(Signals(), p.round.Kind) {
		if p.over() {
			return nil
		}
		return p.hit(ctx, from, p.strike)
	}
	for !p.over() {
		target, ok, err := p.target()
		if err != nil {
			return err
		}
		if ok {
			return p.hit(ctx, from, func(context.Context) error { return target.Kill() })
		}
		if err := sleepUntil(ctx, time.Now().Add(lookPeriod)); err != nil {
			return err
		}
	}
	return nil
}

// awaitCall waits until the cloud has accepted a call of the victim, or of anybody
// where the victim serves all; or until there will be none.
func (p *play) awaitCall(ctx context.Context) error {
	return p.e.Cloud.Await(ctx, "the victim's first call is accepted", func(log activity.Log) bool {
		for _, o := range log.Operations {
			if o.Actor == p.round.Victim || p.round.Victim == "" && o.Actor != lab.Furniture {
				return true
			}
		}
		return p.over()
	})
}

// hit strikes, and notes what the cloud was at.
func (p *play) hit(ctx context.Context, from time.Time, strike func(context.Context) error) error {
	now := time.Now()
	p.killed, p.result.Killed, p.result.DelayS = now, true, now.Sub(from).Seconds()
	log, err := p.e.Cloud.Log()
	if err != nil {
		return err
	}
	for _, o := range log.Operations {
		if !o.Done() {
			p.result.InFlight++
		}
	}
	if err := strike(ctx); err != nil {
		return err
	}
	return errors.Join(p.melt(), p.approve())
}

// melt lets a frozen coordinator go on.
func (p *play) melt() error {
	if p.thaw == nil {
		return nil
	}
	thaw := p.thaw
	p.thaw = nil
	return thaw()
}

// over says whether there will be nothing to kill any more.
func (p *play) over() bool {
	if p.round.Victim != "" {
		return p.runs[p.round.Victim].Exited()
	}
	for _, r := range p.runs {
		if !r.Exited() {
			return false
		}
	}
	return true
}

// target is the process to kill, if it is there.
func (p *play) target() (lab.Process, bool, error) {
	switch p.round.Kind {
	case Wrapper:
		return lab.Process{PID: p.runs[p.round.Victim].PID(), Program: "tfweaver"}, true, nil
	case Daemon:
		return lab.Process{PID: p.daemon.PID(), Program: "tfweaver"}, true, nil
	}
	all, err := p.e.Processes()
	if err != nil {
		return lab.Process{}, false, err
	}
	for _, process := range all {
		if p.isVictim(all, process) {
			return process, true, nil
		}
	}
	return lab.Process{}, false, nil
}

// isVictim says whether a process is the one to kill, of those that are started
// by others.
func (p *play) isVictim(all []lab.Process, process lab.Process) bool {
	if p.round.Kind == Coordinator {
		pid, err := p.e.CoordinatorPID()
		return err == nil && pid == process.PID
	}
	for _, below := range lab.Below(all, p.runs[p.round.Victim].PID()) {
		if below.PID != process.PID {
			continue
		}
		if p.round.Kind == Provider {
			return strings.HasPrefix(process.Program, "terraform-provider-") || strings.HasPrefix(process.Program, "provider")
		}
		return process.Program == programOf(p.e.Lab.CLI.Path)
	}
	return false
}

// programOf is the name under which the system knows a program that may have
// been started by another name.
func programOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Base(path)
}
