// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import "time"

// machine is a computer that may be suspended, and whose clock may be wrong.
type machine struct {
	w    *World
	name string
	// skew is how far its wall clock is ahead.
	skew      time.Duration
	suspended bool
	// held are what its processes do when it goes on.
	held []func()
	// cut: it reaches no other machine; apart: it does not reach the cloud.
	cut, apart bool
}

func (w *World) newMachine(name string) *machine {
	m := &machine{w: w, name: name}
	w.machines = append(w.machines, m)
	return m
}

// wall is the time on the machine's clock.
func (m *machine) wall() time.Time { return m.w.clock.Now().Add(m.skew) }

func (m *machine) suspend(d time.Duration) {
	if m.suspended {
		return
	}
	m.suspended = true
	m.w.logf(m.name, "suspended for %v", d)
	m.w.clock.AfterFunc(d, m.resume)
}

func (m *machine) resume() {
	if !m.suspended {
		return
	}
	m.suspended = false
	m.w.logf(m.name, "goes on")
	held := m.held
	m.held = nil
	for _, f := range held {
		f()
	}
}

// process is a program on a machine. What it has planned is gone when it dies.
type process struct {
	w       *World
	machine *machine
	name    string
	alive   bool
	life    int
}

func (m *machine) newProcess(name string) *process {
	return &process{w: m.w, machine: m, name: name, alive: true}
}

// do runs f now, or when the machine goes on, unless the process dies first.
func (p *process) do(f func()) {
	life := p.life
	p.doIn(life, f)
}

func (p *process) doIn(life int, f func()) {
	switch {
	case !p.alive || p.life != life:
	case p.machine.suspended:
		p.machine.held = append(p.machine.held, func() { p.doIn(life, f) })
	default:
		f()
	}
}

// after runs f when d is over; a suspended machine is late.
func (p *process) after(d time.Duration, f func()) {
	life := p.life
	p.w.clock.AfterFunc(d, func() { p.doIn(life, f) })
}

// kill ends the process. What it has sent is on its way all the same.
func (p *process) kill() {
	p.alive = false
	p.life++
}

// start begins another life of a process.
func (p *process) start() {
	p.alive = true
	p.life++
}

func (p *process) logf(format string, args ...any) { p.w.logf(p.name, format, args...) }
