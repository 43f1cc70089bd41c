// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import "context"

// Sender identifies a process that can send calls to a cloud, so that others
// can tell whether it still lives. A process id alone does not: it is given
// again.
type Sender struct {
	// PID is the process id.
	PID int
	// Started tells it from a later process with the same number, in the form
	// that coordinators know: BOOT/NAMESPACE/TICKS, the id of the machine's boot,
	// the name space of process numbers, and the start of the process in clock
	// ticks since the boot (field 22 of /proc/PID/stat). It is UnknownStart where
	// it cannot be told or would mislead; it is never empty, since of a process
	// without it a coordinator would look up the start by itself.
	Started string
}

// UnknownStart stands for the start of a sender whose death nobody can conclude.
const UnknownStart = "unknown"

// Known says whether the death of the sender can ever be told.
func (s Sender) Known() bool { return s.PID > 0 && s.Started != UnknownStart }

// Announcer is told of a process before it gets its first call. It bounds its
// own time. An error keeps the process from being used.
type Announcer func(ctx context.Context, sender Sender) error

// OnStart makes the pool tell of every process that it starts. It is called
// before the pool is used.
func (p *Pool) OnStart(announce Announcer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announce = announce
}

// tell announces a process.
func (p *Pool) tell(instance Instance) error {
	p.mu.Lock()
	announce := p.announce
	p.mu.Unlock()
	if announce == nil {
		return nil
	}
	return announce(p.ctx, instance.Sender())
}

// identify makes a sender of a process that was just started. What runs must be
// the program itself: whoever starts a script knows the interpreter's process,
// not the one that sends.
func identify(pid int, command Command) Sender {
	s := Sender{PID: pid, Started: UnknownStart}
	if command.Unverified || !runs(pid, command.Path) {
		return s
	}
	if started, ok := startOf(pid); ok {
		s.Started = started
	}
	return s
}
