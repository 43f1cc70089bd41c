// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"errors"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

// Fate is what can be told of a process.
type Fate int

// The fates of a process. Only Dead is for ever.
const (
	Unknown Fate = iota
	Alive
	Dead
)

// String names the fate.
func (f Fate) String() string {
	switch f {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	default:
		return "unknown"
	}
}

var (
	// ErrUnsupported: this system does not tell when a process was started.
	ErrUnsupported = errors.New("this system does not tell processes apart")
	// ErrNoProcess: no process has that number, or only a dead one.
	ErrNoProcess = errors.New("there is no such process")
)

// Identify is the living process that has a number now, placed as Place does.
// ErrNoProcess when there is none, ErrUnsupported where the system does not
// tell.
func Identify(pid int) (coordinator.Process, error) { return identify(pid) }

// Look tells what became of a process.
func Look(p coordinator.Process) Fate { return look(p) }

// Place completes what somebody on this machine says of when a process began.
// What cannot be understood leaves the process unknown; so does a process of
// another boot or name space, which is foreign: whoever names it is somewhere
// else, though it came by a socket of this machine, such as a forwarded one.
func Place(p coordinator.Process) (placed coordinator.Process, foreign bool) { return place(p) }

// SameNumbers says whether a process numbers other processes as this one does:
// it does not in a container of its own. False where that cannot be told.
func SameNumbers(pid int) bool { return sameNumbers(pid) }
