// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import "slices"

// Kind is what is done to which process.
type Kind string

// Killed at once, by kill -9. Daemon is a coordinator that was started by itself,
// and that somebody starts again; Coordinator is the one that runs start when they
// need it.
const (
	Wrapper     Kind = "wrapper"
	Provider    Kind = "provider"
	CLI         Kind = "cli"
	Coordinator Kind = "coordinator"
	Daemon      Kind = "daemon"
)

// Signals to the wrapper alone, as a script or a CI runner sends them.
const (
	Interrupt      Kind = "interrupt"
	InterruptTwice Kind = "interrupt twice"
	Terminate      Kind = "terminate"
	// Abort is Terminate, and a kill when that takes too long.
	Abort  Kind = "terminate, then kill"
	Hangup Kind = "hangup"
	Quit   Kind = "quit"
	// Pipe is a reader of standard output, of standard error or of both that goes
	// away, as "head -1" does.
	Pipe Kind = "broken pipe"
)

// What a person does at a terminal, which signals a whole process group.
const (
	CtrlC      Kind = "ctrl-c"
	CtrlCTwice Kind = "ctrl-c twice"
	// CtrlCInScript is CtrlC where tfweaver is a command of a script, which gets
	// the signal too.
	CtrlCInScript Kind = "ctrl-c in a script"
	// CtrlZ stops a run, which is continued after a while.
	CtrlZ         Kind = "ctrl-z and fg"
	CtrlBackslash Kind = "ctrl-backslash"
	// Close closes the terminal.
	Close Kind = "closed terminal"
)

// killed, signalled and typed are the kinds by the way in which they are done.
func killed() []Kind { return []Kind{Wrapper, Provider, CLI, Coordinator, Daemon} }

func signalled() []Kind {
	return []Kind{Interrupt, InterruptTwice, Terminate, Abort, Hangup, Quit, Pipe}
}

func typed() []Kind {
	return []Kind{CtrlC, CtrlCTwice, CtrlCInScript, CtrlZ, CtrlBackslash, Close}
}

// Kinds are all kinds.
func Kinds() []Kind { return slices.Concat(killed(), signalled(), typed()) }

// Kills are the kinds that no process can catch.
func Kills() []Kind { return killed() }

// Signals are the kinds that are signals to a run that can be caught.
func Signals() []Kind { return slices.Concat(signalled(), typed()) }

// serves says whether it is the coordinator of all sessions that is hit, not a part
// of one.
func (k Kind) serves() bool { return k == Coordinator || k == Daemon }

// atTerminal says whether the victim runs in a terminal.
func (k Kind) atTerminal() bool { return slices.Contains(typed(), k) }

// graceful says whether the run is asked to end, and ends in order: with the state
// saved and its lock given back.
func (k Kind) graceful() bool {
	return slices.Contains([]Kind{Interrupt, InterruptTwice, Terminate, Hangup, CtrlC, CtrlCTwice, CtrlCInScript, Close}, k)
}

// goesOn says whether the run goes on after it.
func (k Kind) goesOn() bool { return k == CtrlZ || k == Pipe }
