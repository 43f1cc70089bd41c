// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Target is what is killed.
type Target string

// The targets. Daemon is a coordinator that was started by itself, and that
// somebody starts again; Coordinator is the one that runs start when they need
// it.
const (
	Wrapper     Target = "wrapper"
	Provider    Target = "provider"
	CLI         Target = "cli"
	Coordinator Target = "coordinator"
	Daemon      Target = "daemon"
)

// Targets are all targets.
func Targets() []Target { return []Target{Wrapper, Provider, CLI, Coordinator, Daemon} }

// serves says whether the target is the coordinator of all sessions, not a part
// of one.
func (t Target) serves() bool { return t == Coordinator || t == Daemon }

// Round is what will be done, all of it drawn from the seed.
type Round struct {
	Number int
	Seed   uint64
	Target Target
	// Victim is the session whose process is killed, empty where it is the
	// coordinator of all.
	Victim string
	// Delay is the time to the kill from the start of the victim, or of the first
	// session; or, with FromCall, from its first call that the cloud accepted.
	Delay    time.Duration
	FromCall bool
	// Stagger are the times after which the sessions start, in the order of
	// sessions.
	Stagger [3]time.Duration
}

// Bounds of what is drawn. A session takes some two seconds on an idle machine.
const (
	longestDelay   = 2600 * time.Millisecond
	longestCall    = 900 * time.Millisecond
	longestStagger = 500 * time.Millisecond
)

// Draw is a round of a seed. The same numbers give the same round.
func Draw(seed uint64, number int) Round {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	// Targets take turns, so that few rounds have all of them.
	r := Round{Number: number, Seed: seed, Target: Targets()[number%len(Targets())]}
	victim := sessions()[random.IntN(len(sessions()))].name
	if !r.Target.serves() {
		r.Victim = victim
	}
	// How long a session needs to its first call depends on the machine, so two of
	// three moments are counted from there.
	longest := longestDelay
	if r.FromCall = random.IntN(3) > 0; r.FromCall {
		longest = longestCall
	}
	r.Delay = time.Duration(random.Int64N(int64(longest)))
	for n := range r.Stagger {
		r.Stagger[n] = time.Duration(random.Int64N(int64(longestStagger)))
	}
	return r
}

// String tells the round to people.
func (r Round) String() string {
	text := fmt.Sprintf("round %d: kill the %s", r.Number, r.Target)
	if r.Victim != "" {
		text += " of " + r.Victim
	}
	text += fmt.Sprintf(" after %v", r.Delay.Round(time.Millisecond))
	if r.FromCall {
		text += " of calls"
	}
	return text
}
