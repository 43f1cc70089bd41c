// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/rules"
)

// trouble is for how long things go wrong, in virtual time.
const trouble = 12 * time.Minute

// Config is what a simulation needs to know.
type Config struct {
	// Seed is what everything is drawn from.
	Seed uint64
	// Engine has the rules of the simulated cloud; see [Rules].
	Engine *ruleengine.Engine
	// Log receives the event log; nil keeps its end only.
	Log io.Writer
	// Journal opens a journal that is kept on disk, for one coordinator; nil is
	// one in memory, for up to three.
	Journal func() (journal.Journal, error)

	flaw flaw
}

// Rules loads the rule packs, for a cloud at a fixed address.
func Rules() (*ruleengine.Engine, error) {
	e, diags := ruleengine.LoadPacks(rules.FS())
	if diags.HasErrors() {
		return nil, fmt.Errorf("load the rules: %w", diags)
	}
	return e.WithEnvironment(func(name string) (string, bool) {
		return endpoint, name == "SIMCLOUD_ENDPOINT"
	}), nil
}

// Result is what came of a simulation.
type Result struct {
	Seed uint64
	// Failure is the first thing that was wrong, empty for none; then Step is
	// where, Rates which faults there were, and Tail the last events.
	Failure string
	Step    int
	Rates   string
	Tail    []string
	// Virtual is how long it took in virtual time.
	Virtual time.Duration
	// LogHash and StateHash identify the event log and the state at the end.
	LogHash, StateHash [sha256.Size]byte

	// Faults counts what really happened.
	Faults map[Fault]int
	// Runs are sessions with a plan, Calls those that a plugin was given, and
	// Records what was journalled.
	Runs, Calls, Records int
	// Restarts are loads of the journal by a leader, Snapshots what was saved,
	// Settled the reads that settled a call, and Late the calls that were not
	// sent because it was too late.
	Restarts, Snapshots, Settled, Late int
	// Stale and Impatient are requests that were lowered again, and given up.
	Stale, Impatient int
	// Refusals, Ends and Results count why something was not done, how runs
	// ended and what plugins reported.
	Refusals, Ends, Results map[string]int
}

// Run runs one simulation. The error is about the simulation itself; what the
// judge found is in the result.
func Run(ctx context.Context, c Config) (Result, error) {
	w, err := newWorld(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("simulation of seed %d: %w", c.Seed, err)
	}
	w.run(trouble)
	r := w.result(c.Seed)
	for _, s := range w.servers {
		w.fail1(w.store.close(s))
	}
	if w.log.err != nil {
		return r, fmt.Errorf("write the event log: %w", w.log.err)
	}
	return r, w.cloud.Close()
}

func (w *World) result(seed uint64) Result {
	r := Result{
		Seed: seed, Failure: w.failure, Step: w.steps, Virtual: w.since(), StateHash: w.ledger.state.Hash(),
		Faults: w.faults, Runs: w.runs, Calls: w.calls, Records: len(w.ledger.records), Restarts: w.restarts,
		Snapshots: w.snapshots, Settled: w.settled, Late: w.late, Stale: w.stale, Impatient: w.impatient,
		Refusals: w.refusals, Ends: w.ended, Results: w.results, Rates: w.rates.String(),
	}
	w.log.sum.Sum(r.LogHash[:0])
	if r.Failure != "" {
		r.Tail = w.log.last()
	}
	return r
}

// String lists the rates that are not zero.
func (r rates) String() string {
	var list []string
	for _, f := range Faults() {
		if r[f] > 0 {
			list = append(list, fmt.Sprintf("%s %.3f", f, r[f]))
		}
	}
	return strings.Join(list, ", ")
}

// Report says everything that is needed to look into a failure; path is where the
// whole event log is, empty for nowhere.
func (r Result) Report(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d fails at step %d, after %v of virtual time: %s\n", r.Seed, r.Step, r.Virtual, r.Failure)
	fmt.Fprintf(&b, "replay: go run ./internal/simulation/cmd/simulate -replay %d\nfaults: %s\n", r.Seed, r.Rates)
	if path != "" {
		fmt.Fprintf(&b, "the whole event log is in %s\n", path)
	}
	b.WriteString("the last events:\n" + strings.Join(r.Tail, ""))
	return b.String()
}

// Keep runs a seed again with its event log in a file.
func Keep(ctx context.Context, c Config, path string) (Result, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return Result{}, fmt.Errorf("keep the event log: %w", err)
	}
	c.Log = f
	r, err := Run(ctx, c)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("keep the event log: %w", cerr)
	}
	return r, err
}
