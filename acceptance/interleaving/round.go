// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Kind is what the plain Terraform does.
type Kind string

// The kinds.
const (
	// Apply makes something that is in the configuration of both.
	Apply Kind = "apply"
	// Destroy destroys something that both know of.
	Destroy Kind = "destroy"
	// Reimport takes something out of the state and back into it.
	Reimport Kind = "reimport"
	// Refresh notes a change that was made past Terraform.
	Refresh Kind = "refresh"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Apply, Destroy, Reimport, Refresh} }

// Round is what will be done, all of it drawn from the seed.
type Round struct {
	Number int
	Seed   uint64
	// Woven is false for the control: the two steps with the CLI alone.
	Woven bool
	Kind  Kind
	// Remote has the state on a server; otherwise it is a file.
	Remote bool
	// Asks lets the run ask for approval, which it gets after Answer, each time.
	Asks   bool
	Answer time.Duration
	// Delay is the time to the start of the plain Terraform, from that of the run
	// or, with AfterPlan, from the moment when it shows its plan.
	Delay     time.Duration
	AfterPlan bool
}

// Bounds of what is drawn. A run takes two or three seconds on an idle machine, of
// which it needs one to its plan; between its steps the lock of the state is free
// for less than half a second, of which a CLI needs a part to come to it.
const (
	longestDelay  = 2500 * time.Millisecond
	longestWait   = 300 * time.Millisecond
	longestAnswer = 2500 * time.Millisecond
)

// Draw is a round of a seed. The same numbers give the same round, coordinated or
// not.
func Draw(seed uint64, number int, woven bool) Round {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := Round{
		Number: number, Seed: seed, Woven: woven,
		// They take turns, so that eight rounds have all kinds on both backends.
		Remote: number%2 == 0, Kind: Kinds()[number/2%len(Kinds())], Asks: (3*number+number/8)%4 == 0,
		AfterPlan: random.IntN(3) > 0,
	}
	longest := longestDelay
	if r.AfterPlan = r.AfterPlan || r.Asks; r.AfterPlan {
		longest = longestWait
	}
	r.Delay = time.Duration(random.Int64N(int64(longest)))
	if r.Asks {
		r.Answer = time.Duration(random.Int64N(int64(longestAnswer)))
	}
	return r
}

// String tells the round to people.
func (r Round) String() string {
	who, where, when := "the CLI in two steps", "a file", "the start"
	if r.Woven {
		who = "tfweaver"
	}
	if r.Remote {
		where = "a server"
	}
	if r.AfterPlan {
		when = "the plan"
	}
	text := fmt.Sprintf("round %d: %s on %s, a plain %s %v after %s", r.Number, who, where, r.Kind, r.Delay.Round(time.Millisecond), when)
	if r.Asks {
		text += fmt.Sprintf(", approved after %v", r.Answer.Round(time.Millisecond))
	}
	return text
}
