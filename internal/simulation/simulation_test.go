// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// The seeds of every run of the tests: always the same, so that a change of the
// code is all that makes a difference.
const (
	firstSeed, lastSeed   = 1, 80
	firstOnDisk, lastDisk = 1001, 1006
)

func loaded(t testing.TB) *ruleengine.Engine {
	t.Helper()
	e, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// simulate runs a seed that must not fail.
func simulate(t *testing.T, c Config) Result {
	t.Helper()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failure != "" {
		path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("events-%d.log", c.Seed))
		if _, err := Keep(t.Context(), c, path); err != nil {
			t.Error(err)
		}
		t.Error(r.Report(path))
	}
	return r
}

// total collects the results of seeds that run beside one another.
type total struct {
	mu sync.Mutex
	Totals
}

func (x *total) take(r Result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.Add(r)
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	var sum total
	engine := loaded(t)
	t.Run("all", func(t *testing.T) {
		for seed := uint64(firstSeed); seed <= lastSeed; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				sum.take(simulate(t, Config{Seed: seed, Engine: engine}))
			})
		}
	})
	t.Log("\n" + sum.String())
	for _, f := range Faults() {
		if sum.Faults[f] == 0 {
			t.Errorf("no seed had a %q: what it does was not tried", f)
		}
	}
	for what, n := range map[string]int{
		"stale request": sum.Stale, "request that ran out of patience": sum.Impatient, "call that was too late": sum.Late,
		"settlement by a read": sum.Settled, "snapshot": sum.Snapshots, "restart": sum.Restarts,
	} {
		if n == 0 {
			t.Errorf("no seed had a %s", what)
		}
	}
}

// A journal on disk, of one coordinator.
func TestOnDisk(t *testing.T) {
	t.Parallel()
	engine := loaded(t)
	for seed := uint64(firstOnDisk); seed <= lastDisk; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			simulate(t, Config{Seed: seed, Engine: engine, Journal: func() (journal.Journal, error) {
				return bboltjournal.Open(path)
			}})
		})
	}
}

// The same seed gives the same events, byte for byte, and the same state.
func TestSameSeedSameEvents(t *testing.T) {
	t.Parallel()
	engine := loaded(t)
	for _, seed := range []uint64{3, 9, 2001} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var first, second bytes.Buffer
			a := simulate(t, Config{Seed: seed, Engine: engine, Log: &first})
			b := simulate(t, Config{Seed: seed, Engine: engine, Log: &second})
			if !bytes.Equal(first.Bytes(), second.Bytes()) || a.LogHash != b.LogHash {
				x, y := strings.Split(first.String(), "\n"), strings.Split(second.String(), "\n")
				for i := range min(len(x), len(y)) {
					if x[i] != y[i] {
						t.Fatalf("event %d differs:\n%s\n%s", i, x[i], y[i])
					}
				}
				t.Fatalf("%d and %d events", len(x), len(y))
			}
			if a.StateHash != b.StateHash || a.Step != b.Step {
				t.Errorf("the same events and another end: %x at %d, %x at %d", a.StateHash, a.Step, b.StateHash, b.Step)
			}
		})
	}
}

// A seed that fails, fails again: at the same step, for the same reason, and its
// report says how to see that.
func TestFailureIsReplayed(t *testing.T) {
	t.Parallel()
	c := Config{Seed: 1, Engine: loaded(t), flaw: flaw{noStart: true}}
	first, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "events.log")
	second, err := Keep(t.Context(), c, path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Failure == "" || first.Failure != second.Failure || first.Step != second.Step || first.LogHash != second.LogHash {
		t.Errorf("step %d: %s\nthen step %d: %s", first.Step, first.Failure, second.Step, second.Failure)
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(log) != first.LogHash {
		t.Error("the log that was kept is not that of the run")
	}
	report := second.Report(path)
	for _, want := range []string{"seed 1 ", fmt.Sprintf("step %d", first.Step), first.Failure, "-replay 1", path, first.Rates, first.Tail[0]} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
}

// Each flaw is found by one of the seeds that are always run. The one that finds it
// at the time of writing is tried first.
func TestFlawsAreFound(t *testing.T) {
	t.Parallel()
	engine := loaded(t)
	for name, c := range map[string]struct {
		flaw flaw
		seed uint64
	}{
		"answer before append":         {flaw{answerFirst: true}, 1},
		"no fencing":                   {flaw{noFence: true}, 1},
		"take-over without leases":     {flaw{noTakeOver: true}, 1},
		"free on expiry":               {flaw{freeOnExpiry: true}, 39},
		"any read settles":             {flaw{believeReads: true}, 19},
		"death of the wrapper alone":   {flaw{hastyDeath: true}, 6},
		"start not required":           {flaw{noStart: true}, 1},
		"calls of an intent apart":     {flaw{noClaims: true}, 19},
		"no guards":                    {flaw{noGuards: true}, 6},
		"no capacity":                  {flaw{noEffects: true}, 7},
		"locks that nobody respects":   {flaw{advisory: true}, 1},
		"no facets":                    {flaw{noFacets: true}, 1},
		"last record lost":             {flaw{forgetLast: true}, 1},
		"snapshot under a wrong index": {flaw{early: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := func(seed uint64) bool {
				r, err := Run(t.Context(), Config{Seed: seed, Engine: engine, flaw: c.flaw})
				if err != nil {
					t.Fatal(err)
				}
				if r.Failure != "" {
					t.Logf("%s: seed %d, step %d: %s", name, seed, r.Step, r.Failure)
				}
				return r.Failure != ""
			}
			if found(c.seed) {
				return
			}
			for seed := uint64(firstSeed); seed <= lastSeed; seed++ {
				if found(seed) {
					return
				}
			}
			t.Error("no seed notices")
		})
	}
}
