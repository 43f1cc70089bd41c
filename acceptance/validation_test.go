// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/validation"
)

// TestThreePoliciesHaveThePapersShape runs the paper's validation, and with it
// examples/three-sessions, at a fifth of its time.
func TestThreePoliciesHaveThePapersShape(t *testing.T) {
	for _, seed := range []uint64{0, 11} {
		out := t.TempDir()
		result, traces, err := validation.Run(t.Context(), validation.Config{
			Lab: shared, Scale: 0.2, Seed: seed, Out: out, Progress: t.Logf,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := validation.CheckShape(result); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		waits := traces[2].Waits
		if !slices.ContainsFunc(waits, func(w validation.Wait) bool { return w.Session == validation.SessionB && w.For == validation.SessionA }) {
			t.Errorf("seed %d: session B was not told that it waits for session A: %v", seed, waits)
		}
		if slices.ContainsFunc(waits, func(w validation.Wait) bool { return w.Session == validation.SessionC }) {
			t.Errorf("seed %d: session C waited although nobody else touches what it touches: %v", seed, waits)
		}
		// What is lost to the programs themselves is not scaled.
		if f := result.Policies[2]; f.MakespanS > 1.4*f.CriticalPathS {
			t.Errorf("seed %d: makespan %.3f s for a critical path of %.3f s", seed, f.MakespanS, f.CriticalPathS)
		}
	}
}
