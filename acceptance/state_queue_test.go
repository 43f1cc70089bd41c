// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lineup"
)

// TestC25AppliesOnOneStateLineUp: applies on one state that are started at once
// run in the order in which they came, and nobody is turned away (atlantis issues
// 1923 and 5628; terraform issue 27667). How long that takes is measured by "make
// measure"; the control there is -lock-timeout.
func TestC25AppliesOnOneStateLineUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, lineup.StateSetup())
	r, err := lineup.OneState(b.ctx, b.Experiment, 4, lineup.Woven)
	if err != nil {
		t.Fatal(err)
	}
	if r.Refused != 0 || len(r.Ran) != 4 || !slices.Equal(r.Ran, r.Queue) || r.Chained != nil {
		t.Errorf("%+v", r)
	}
	for n, gap := range r.Gaps {
		if gap < 0 {
			t.Errorf("%s had the state before %s was done", r.Ran[n+1], r.Ran[n])
		}
	}
	t.Logf("%v in all, idle gaps %v, held for %v", r.Total, r.Gaps, r.Held)
}

// TestC25WithoutAQueueTheyAreTurnedAway is the control of
// TestC25AppliesOnOneStateLineUp: without waiting, all but one fail.
func TestC25WithoutAQueueTheyAreTurnedAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, lineup.StateSetup())
	s := store(t, nil)
	one, two := b.on(s, "net", "one", group()+network("net", "")), b.on(s, "net", "two", group()+network("net", ""))
	runs := b.applyAll(plain, one, two)
	if sum := runs[0].ExitCode + runs[1].ExitCode; sum != 1 {
		t.Errorf("exit codes %d and %d: nothing is in the way", runs[0].ExitCode, runs[1].ExitCode)
	}
}
