// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Round is what will be done, all of it drawn from the seed.
type Round struct {
	Number int
	Seed   uint64
	// Coordinated is false for the baseline: plain Terraform.
	Coordinated bool
	// Lead is by how much the replacer begins before the destroyer; negative where
	// it begins after it.
	Lead time.Duration
	// CreateFirst replaces the machine by one of another name, which is made before
	// the old one is deleted.
	CreateFirst bool
	// Saved applies plans that were saved to files; otherwise both runs have
	// planned and wait for approval.
	Saved bool
}

// longestLead bounds the lead, either way. Whoever begins needs a second and a half
// on a machine that has nothing else to do, so nearly all of these rounds overlap.
const longestLead = 1200 * time.Millisecond

// apart is a lead after which whoever begins has ended: one round in four shows
// what becomes of a plan that is older than what the other one did.
const apart = 7 * time.Second

// Draw is a round of a seed. The same arguments give the same round, and the lead
// does not depend on whether it is coordinated.
func Draw(seed uint64, number int, coordinated bool) Round {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := Round{
		Number: number, Seed: seed, Coordinated: coordinated,
		Lead: time.Duration(random.Int64N(int64(longestLead))),
		// The ways take turns, so that few rounds have all of them.
		CreateFirst: number%2 == 1, Saved: number/2%2 == 1,
	}
	if number%4 == 2 {
		r.Lead = apart
	}
	if number/4%2 == 1 {
		r.Lead = -r.Lead
	}
	return r
}

// String tells the round to people.
func (r Round) String() string {
	who, how, plan := "plain", "deleted first", "approved"
	if r.Coordinated {
		who = "coordinated"
	}
	if r.CreateFirst {
		how = "created first"
	}
	if r.Saved {
		plan = "saved"
	}
	return fmt.Sprintf("round %d: %s, %s, plans %s, the replacer leads by %v", r.Number, who, how, plan, r.Lead.Round(time.Millisecond))
}
