// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Round is what will be done, all of it drawn from the seed.
type Round struct {
	Number int
	Seed   uint64
	Kind   Kind
	// Victim is the session that is hit, empty where it is the coordinator of all.
	Victim string
	Moment Moment
	// Delay is the time from the moment to the blow.
	Delay time.Duration
	// Gap is the time to the second blow, and to the continuation of what was
	// stopped.
	Gap time.Duration
	// Stdout and Stderr are the streams that nobody reads any more.
	Stdout, Stderr bool
	// Stagger are the times after which the sessions start, in the order of
	// sessions.
	Stagger [3]time.Duration
}

// Bounds of what is drawn.
const (
	longestStagger = 500 * time.Millisecond
	shortestGap    = 50 * time.Millisecond
	longestGap     = 2 * time.Second
)

// Draw is a round of a seed. The same numbers give the same round.
func Draw(seed uint64, number int) Round { return DrawOf(Kinds(), seed, number) }

// DrawOf is a round of one of some kinds. They take turns, so that few rounds have
// all of them.
func DrawOf(kinds []Kind, seed uint64, number int) Round {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := Round{Number: number, Seed: seed, Kind: kinds[number%len(kinds)]}
	victim := sessions()[random.IntN(len(sessions()))].name
	if !r.Kind.serves() {
		r.Victim = victim
	}
	r.Moment = r.Kind.draw(random)
	if r.Moment == Waiting {
		// Of the two on one network the one that starts later.
		r.Victim = sessions()[1].name
	}
	r.Delay = time.Duration(random.Int64N(int64(r.Moment.longest())))
	r.Gap = shortestGap + time.Duration(random.Int64N(int64(longestGap-shortestGap)))
	streams := 1 + random.IntN(3)
	r.Stdout, r.Stderr = streams&1 != 0, streams&2 != 0
	for n := range r.Stagger {
		r.Stagger[n] = time.Duration(random.Int64N(int64(longestStagger)))
	}
	if r.Moment == Waiting {
		r.Stagger[0], r.Stagger[1] = 0, longestStagger
	}
	return r
}

// String tells the round to people.
func (r Round) String() string {
	text := fmt.Sprintf("round %d: %s", r.Number, r.Kind)
	if r.Victim != "" {
		text += " of " + r.Victim
	}
	return text + fmt.Sprintf(", %s, after %v", r.Moment, r.Delay.Round(time.Millisecond))
}
