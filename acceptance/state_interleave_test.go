// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/interleaving"
)

// TestPlainTerraformSlipsIn is a small part of "make interleave": a plain
// Terraform works on the state of an apply, from moments that are drawn. The run
// never ends with a stale plan, what both have done is in the state, and nothing
// is left to do.
func TestPlainTerraformSlipsIn(t *testing.T) {
	t.Parallel()
	// Of this seed both runs that somebody approves are approved late.
	const rounds, seed = 8, 301
	series := interleaving.Series(shared, seed, true)
	series.Wanted, series.Together, series.Progress = rounds, 3, t.Logf
	results, err := series.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tally := interleaving.TallyOf(results)
	for round, what := range tally.Broken {
		t.Errorf("%v: %s", interleaving.Draw(seed, round, true), strings.Join(what, "; "))
	}
	if tally.Rounds != rounds || tally.Stale != 0 || tally.Failed != 0 || tally.Versions == 0 {
		t.Errorf("%+v", tally)
	}
	if tally.Again == 0 {
		t.Error("no run had to plan again: the test shows nothing")
	}
}

// TestPlainTerraformMakesTwoStepsStale is the control of
// TestPlainTerraformSlipsIn: with the CLI alone, a plan that somebody approves
// after a plain Terraform has worked on the state is turned down.
func TestPlainTerraformMakesTwoStepsStale(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]bool{"a file": false, "a server": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			round := interleaving.Round{Kind: interleaving.Apply, Remote: remote, Asks: true, AfterPlan: true, Answer: 10 * time.Second}
			result, report, err := interleaving.Play(t.Context(), shared, round)
			if err != nil {
				t.Fatalf("%v\n%s", err, report)
			}
			if !result.Stale || result.Exit == 0 || len(result.Broken) > 0 {
				t.Errorf("%+v\n%s", result, report)
			}
		})
	}
}
