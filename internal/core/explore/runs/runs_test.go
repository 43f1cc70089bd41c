// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// budget scales the exploration: 1 is the short one that go test runs,
// EXPLORE_BUDGET=n takes n times as many configurations.
func budget(t *testing.T) int {
	t.Helper()
	text := os.Getenv("EXPLORE_BUDGET")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("EXPLORE_BUDGET=%q is not a positive number", text)
	}
	return n
}

// TestGenerated explores runs with replaces, capacity and mishaps. RUNS_SEED
// begins elsewhere.
func TestGenerated(t *testing.T) {
	t.Parallel()
	seed, _ := strconv.Atoi(os.Getenv("RUNS_SEED"))
	const parts = 3
	var found atomic.Bool // by one of the parts; the others need not go on
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			var total Stats
			n := 150 * budget(t) / parts
			for c := range Generate(seed+part*n, n) {
				stats, err := Explore(c, 1000*budget(t))
				if err != nil {
					found.Store(true)
					t.Fatal(err)
				}
				if found.Load() {
					return
				}
				total.add(stats)
			}
			t.Logf("%d configurations, %d distinct states, %d steps; %d capped", total.Configs, total.States, total.Steps, total.Capped)
		})
	}
}
