// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/killing"
)

// TestKillsAtRandomMoments is a small part of "make kill": kill -9 of wrappers,
// providers, CLIs and coordinators. Nothing is lost and nothing granted twice;
// those who have nothing to do with it go on, and so do the others once somebody
// has seen how the killed call ended.
func TestKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	playRounds(t, 41, killing.Kills())
}

// playRounds plays a round of each kind, two at a time.
func playRounds(t *testing.T, seed uint64, kinds []killing.Kind) {
	t.Helper()
	series := killing.Series(shared, seed, kinds...)
	series.Wanted, series.Together, series.Progress = len(kinds), 2, t.Logf
	results, err := series.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tally := killing.TallyOf(results)
	var figures strings.Builder
	if err := tally.Write(&figures); err != nil {
		t.Error(err)
	}
	t.Log(figures.String())
	for round, what := range tally.Rounds {
		t.Errorf("%v: %s", killing.DrawOf(kinds, seed, round), strings.Join(what, "; "))
	}
	if tally.Kills < len(kinds) || tally.Hot == 0 {
		t.Errorf("%d rounds, %d of them in the middle of a change: the test shows nothing", tally.Kills, tally.Hot)
	}
}
