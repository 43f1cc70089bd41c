// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "fmt"

// Apply decides a command, folds the decisions onto the state and returns
// them. The record to journal has the index that [State.Index] has afterwards.
//
// A command that changes nothing (a repeated one, an Expire that finds nothing
// to end) returns no events: there is nothing to journal, and neither index nor
// time moves. A command that fails changed nothing.
func (s *State) Apply(c Command) ([]Event, error) {
	d := &decision{State: s}
	if err := d.decide(c); err != nil {
		return nil, err
	}
	return d.events, nil
}

// decision is one command being decided. All checks that may fail come before
// the first emit.
type decision struct {
	*State
	at     int64
	events []Event
	// again is true when the queue has to be judged once more: what was decided
	// concerns waiters that were judged before.
	again bool
}

// emit folds one decision onto the state.
func (d *decision) emit(e Event) {
	if len(d.events) == 0 {
		d.index++
		d.now = d.at
		d.events = make([]Event, 0, 4) // few commands have more
	}
	if err := d.fold(e); err != nil {
		// The state contradicts itself: going on would journal a decision
		// that no replay could follow.
		panic(fmt.Sprintf("core invariant: %T cannot be folded: %v", e, err))
	}
	d.events = append(d.events, e)
}

func (d *decision) decide(c Command) error {
	at, err := d.time(c)
	if err != nil {
		return err
	}
	d.at = at
	switch c := c.(type) {
	case OpenSession:
		return d.openSession(c)
	case Renew:
		return d.renew(c)
	case CloseSession:
		return d.closeSession(c)
	case AddIntent:
		return d.addIntent(c)
	case Expire:
		return d.expire()
	case Declare:
		return d.declare(c)
	case Submit:
		return d.submit(c)
	case Start:
		return d.start(c)
	case Complete:
		return d.complete(c)
	case Withdraw:
		return d.withdraw(c)
	case Resolve:
		return d.resolve(c)
	case Observe:
		return d.observe(c)
	case Measure:
		return d.measure(c)
	case Settle:
		return d.settleBy(c)
	case Pass:
		return d.passOn(c)
	case Deceased:
		return d.deceased(c)
	default:
		return fmt.Errorf("%w: command %T", ErrMalformed, c)
	}
}

// stamped is every command that carries its time.
type stamped interface{ stamp() int64 }

func (t Stamp) stamp() int64 { return t.Now }

// time is the time of a command, which never goes back (invariant I28).
func (d *decision) time(c Command) (int64, error) {
	t, ok := c.(stamped)
	if !ok {
		return 0, fmt.Errorf("%w: command %T", ErrMalformed, c)
	}
	if t.stamp() < d.now {
		return 0, fmt.Errorf("%w: from %d to %d", ErrTimeBack, d.now, t.stamp())
	}
	return t.stamp(), nil
}
