// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// lookPeriod is how often a process is looked for that is not there yet.
const lookPeriod = 5 * time.Millisecond

// kill kills the target when its time has come, or as soon as it exists. It does
// nothing if the session has ended before that.
func (p *play) kill(ctx context.Context) error {
	from := p.started
	if p.round.Victim != "" {
		from = p.startOf(p.round.Victim)
	}
	due := from
	if p.round.FromCall {
		if err := p.awaitCall(ctx); err != nil {
			return err
		}
		due = time.Now()
	}
	if err := sleepUntil(ctx, due.Add(p.round.Delay)); err != nil {
		return err
	}
	for !p.over() {
		target, ok, err := p.target()
		if err != nil {
			return err
		}
		if ok {
			return p.hit(target, from)
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

// hit kills a process and notes what the cloud was at.
func (p *play) hit(target lab.Process, from time.Time) error {
	if err := target.Kill(); err != nil {
		return err
	}
	now := time.Now()
	p.killed, p.result.Killed, p.result.DelayS = now, true, now.Sub(from).Seconds()
	log, err := p.e.Cloud.Log()
	for _, o := range log.Operations {
		if !o.Done() {
			p.result.InFlight++
		}
	}
	return err
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
	switch p.round.Target {
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
		if p.isTarget(all, process) {
			return process, true, nil
		}
	}
	return lab.Process{}, false, nil
}

// isTarget says whether a process is the one to kill, of those that are started
// by others.
func (p *play) isTarget(all []lab.Process, process lab.Process) bool {
	if p.round.Target == Coordinator {
		pid, err := p.e.CoordinatorPID()
		return err == nil && pid == process.PID
	}
	for _, below := range lab.Below(all, p.runs[p.round.Victim].PID()) {
		if below.PID != process.PID {
			continue
		}
		if p.round.Target == Provider {
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
