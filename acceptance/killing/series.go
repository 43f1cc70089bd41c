// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"context"
	"fmt"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/rounds"
)

// Series is many rounds of a seed, of some kinds or of all; a round whose victim
// had ended before it was hit does not count.
func Series(l *lab.Lab, seed uint64, kinds ...Kind) rounds.Series[Result] {
	if len(kinds) == 0 {
		kinds = Kinds()
	}
	return rounds.Series[Result]{Seed: seed, Play: func(ctx context.Context, number int) (Result, string, error) {
		return Play(ctx, l, DrawOf(kinds, seed, number))
	}}
}

// Number is that of the round.
func (r Result) Number() int { return r.Round }

// Counts is true when something was killed.
func (r Result) Counts() bool { return r.Killed }

// Told says what was done and what that broke.
func (r Result) Told() string {
	fate := "all well"
	switch {
	case !r.Killed:
		fate = "the victim was faster"
	case len(r.Broken) > 0:
		fate = fmt.Sprintf("BROKEN: %q", r.Broken)
	}
	return r.Drawn + ": " + fate
}
