// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// strike does to the victim what the round is about.
func (p *play) strike(ctx context.Context) error {
	run := p.runs[p.round.Victim]
	switch p.round.Kind {
	case Interrupt:
		return run.Signal(syscall.SIGINT)
	case InterruptTwice:
		return p.twice(ctx, func() error { return run.Signal(syscall.SIGINT) }, func() error { return run.Signal(syscall.SIGINT) })
	case Terminate:
		return run.Signal(syscall.SIGTERM)
	case Abort:
		return p.twice(ctx, func() error { return run.Signal(syscall.SIGTERM) }, run.Kill)
	case Hangup:
		return run.Signal(syscall.SIGHUP)
	case Quit:
		return run.Signal(syscall.SIGQUIT)
	case Pipe:
		return p.handled.StopReading(p.round.Stdout, p.round.Stderr)
	default:
		return p.typeKeys(ctx)
	}
}

// typeKeys is strike at a terminal.
func (p *play) typeKeys(ctx context.Context) error {
	key := func(text string) func() error { return func() error { return ignoreGone(p.terminal.Type(text)) } }
	switch p.round.Kind {
	case CtrlC, CtrlCInScript:
		return key(lab.CtrlC)()
	case CtrlCTwice:
		return p.twice(ctx, key(lab.CtrlC), key(lab.CtrlC))
	case CtrlZ:
		return key(lab.CtrlZ)()
	case CtrlBackslash:
		return key(lab.CtrlBackslash)()
	default:
		return p.terminal.HangUp()
	}
}

// ignoreGone drops the error of a terminal whose last process has ended.
func ignoreGone(err error) error {
	if errors.Is(err, syscall.EIO) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// twice strikes a second time after the round's gap, unless the run has ended.
func (p *play) twice(ctx context.Context, first, second func() error) error {
	if err := first(); err != nil {
		return err
	}
	if err := sleepUntil(ctx, time.Now().Add(p.round.Gap)); err != nil {
		return err
	}
	if p.over() {
		return nil
	}
	return second()
}

// approve answers the question of a run that goes on after it was hit there.
func (p *play) approve() error {
	switch {
	case p.round.Moment != Asking || !p.round.Kind.goesOn():
		return nil
	case p.terminal != nil:
		return ignoreGone(p.terminal.Type("yes\n"))
	default:
		return p.handled.Approve()
	}
}

// freeze stops the coordinator, if one serves, so that nobody can connect to it.
func (p *play) freeze() error {
	pid, err := p.e.CoordinatorPID()
	if err != nil || pid == 0 {
		return err
	}
	process := lab.Process{PID: pid, Program: "the coordinator"}
	p.thaw = process.Thaw
	return process.Freeze()
}
