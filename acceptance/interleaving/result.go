// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import "fmt"

// Result is what came of a round.
type Result struct {
	Round  int    `json:"round"`
	Seed   uint64 `json:"seed"`
	Woven  bool   `json:"woven"`
	Kind   Kind   `json:"kind"`
	Remote bool   `json:"remote"`
	Asks   bool   `json:"asks"`
	// Exit is the exit code of the run, PlainExit the first that is not 0 of those
	// of the plain Terraform.
	Exit      int `json:"exit"`
	PlainExit int `json:"plain_exit"`
	// PlainLocked is true when the plain Terraform did not get the lock in time.
	PlainLocked bool `json:"plain_locked"`
	// Stale is true when the run ended with the error that its plan is stale.
	Stale bool `json:"stale"`
	// Plans is how many plans the run has shown, Answers how often it was approved.
	Plans   int `json:"plans"`
	Answers int `json:"answers"`
	// Between is true when the plain Terraform has written the state after the
	// first plan of the run and before the end of the run; only known of a state on
	// a server.
	Between bool `json:"between"`
	// Versions is how many versions of the state both wrote; only on a server.
	Versions int      `json:"versions"`
	RunS     float64  `json:"run_s"`
	TookS    float64  `json:"took_s"`
	Broken   []string `json:"broken,omitempty"`
}

func resultOf(r Round) Result {
	return Result{Round: r.Number, Seed: r.Seed, Woven: r.Woven, Kind: r.Kind, Remote: r.Remote, Asks: r.Asks}
}

func (r *Result) broke(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// Number is that of the round.
func (r Result) Number() int { return r.Round }

// Counts is true: every round shows something.
func (r Result) Counts() bool { return true }

// Told says what was done and what came of it.
func (r Result) Told() string {
	fate := fmt.Sprintf("%d plans", r.Plans)
	if r.Stale {
		fate += ", ended as stale"
	}
	if len(r.Broken) > 0 {
		fate = fmt.Sprintf("BROKEN: %q", r.Broken)
	}
	return Draw(r.Seed, r.Round, r.Woven).String() + ": " + fate
}
