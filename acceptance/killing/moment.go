// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Moment is where the victim is when it is hit.
type Moment string

// The moments. Each comes some time after it has begun, see [Round.Delay].
const (
	// AnyTime is counted from the start of the victim, or of the first session.
	AnyTime Moment = "any time"
	// Starting is before the first CLI has started.
	Starting Moment = "starting"
	// Connecting is while the coordinator does not answer.
	Connecting Moment = "connecting"
	Planning   Moment = "planning"
	// Asking is at the question for approval.
	Asking Moment = "asking"
	// Between is after the plan and before its apply has begun.
	Between Moment = "between the halves"
	// Waiting is while a call waits for another session.
	Waiting Moment = "waiting"
	// InFlight is counted from the first call that the cloud has accepted.
	InFlight Moment = "in flight"
	// Closing is after the CLI has ended.
	Closing Moment = "closing"
)

// moments are those at which a kind can come.
func (k Kind) moments() []Moment {
	switch k {
	case Coordinator, Daemon:
		return []Moment{AnyTime, InFlight}
	case Provider, CLI:
		return []Moment{AnyTime, Planning, Waiting, InFlight}
	default:
		return []Moment{AnyTime, Starting, Connecting, Planning, Asking, Between, Waiting, InFlight, Closing}
	}
}

// longest bounds the delay. A session takes some two seconds on an idle machine.
func (m Moment) longest() time.Duration {
	switch m {
	case AnyTime:
		return 2600 * time.Millisecond
	case InFlight:
		return 900 * time.Millisecond
	case Starting:
		return 150 * time.Millisecond
	case Between, Closing:
		return 60 * time.Millisecond
	default:
		return 300 * time.Millisecond
	}
}

// early says whether the CLI may have started just then, and not be able yet to
// take a signal: it dies of the signal, as it does without tfweaver.
func (m Moment) early() bool { return !slices.Contains([]Moment{Asking, Waiting, InFlight}, m) }

// draw is a moment of a kind. How long a session needs to its first call depends on
// the machine, so one of two is counted from there.
func (k Kind) draw(random *rand.Rand) Moment {
	all := k.moments()
	if random.IntN(2) == 0 {
		return InFlight
	}
	return all[random.IntN(len(all))]
}

// awaitMoment waits until the moment has begun. It is over when the victim has
// ended before that.
func (p *play) awaitMoment(ctx context.Context) error {
	if p.round.Moment == InFlight {
		return p.awaitCall(ctx)
	}
	began := p.began()
	for !p.over() {
		if ok, err := began(); ok || err != nil {
			return err
		}
		if err := sleepUntil(ctx, time.Now().Add(lookPeriod)); err != nil {
			return err
		}
	}
	return nil
}

// began returns what says whether the moment has begun.
func (p *play) began() func() (bool, error) {
	planned, applied := false, false
	return func() (bool, error) {
		switch p.round.Moment {
		case Planning:
			return p.runsCLI("plan")
		case Asking:
			return strings.Contains(p.runs[p.round.Victim].Said(), "Enter a value:"), nil
		case Waiting:
			return strings.Contains(p.runs[p.round.Victim].Said(), " waits"), nil
		case Between:
			now, err := p.runsCLI("plan")
			ended := planned && !now
			planned = planned || now
			return ended, err
		case Closing:
			now, err := p.runsCLI("apply")
			ended := applied && !now
			applied = applied || now
			return ended, err
		default:
			return true, nil
		}
	}
}

// runsCLI says whether the victim's CLI is at a command.
func (p *play) runsCLI(command string) (bool, error) {
	all, err := p.e.Processes()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(lab.Below(all, p.runs[p.round.Victim].PID()), func(process lab.Process) bool {
		return process.Program == programOf(p.e.Lab.CLI.Path) && slices.Contains(process.Args, command)
	}), nil
}
