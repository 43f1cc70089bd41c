// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Totals add up what came of many seeds.
type Totals struct {
	Seeds, Failures, Steps             int
	Runs, Calls, Records               int
	Restarts, Snapshots, Settled, Late int
	Stale, Impatient                   int
	Virtual                            time.Duration
	Faults                             map[Fault]int
	Refusals, Ends, Results            map[string]int
}

// Add adds one result.
func (t *Totals) Add(r Result) {
	t.Seeds++
	if r.Failure != "" {
		t.Failures++
	}
	t.Steps += r.Step
	t.Virtual += r.Virtual
	t.Runs, t.Calls, t.Records = t.Runs+r.Runs, t.Calls+r.Calls, t.Records+r.Records
	t.Restarts, t.Snapshots = t.Restarts+r.Restarts, t.Snapshots+r.Snapshots
	t.Settled, t.Late = t.Settled+r.Settled, t.Late+r.Late
	t.Stale, t.Impatient = t.Stale+r.Stale, t.Impatient+r.Impatient
	t.Faults = sum(t.Faults, r.Faults)
	t.Refusals, t.Ends, t.Results = sum(t.Refusals, r.Refusals), sum(t.Ends, r.Ends), sum(t.Results, r.Results)
}

func sum[K comparable](to, from map[K]int) map[K]int {
	if to == nil {
		to = map[K]int{}
	}
	for k, n := range from {
		to[k] += n
	}
	return to
}

// String is a table of how much was tried, and how often each fault happened.
func (t *Totals) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d seeds (%d failed), %d steps, %v of virtual time\n", t.Seeds, t.Failures, t.Steps, t.Virtual.Round(time.Minute))
	fmt.Fprintf(&b, "%d runs, %d calls sent, %d records, %d loads of the journal, %d snapshots\n", t.Runs, t.Calls, t.Records, t.Restarts, t.Snapshots)
	fmt.Fprintf(&b, "%d calls settled by a read, %d too late to be sent, %d requests stale, %d given up\n", t.Settled, t.Late, t.Stale, t.Impatient)
	fmt.Fprintf(&b, "outcomes: %s\nends of runs: %s\nnot done: %s\n", list(t.Results), list(t.Ends), list(t.Refusals))
	for _, f := range Faults() {
		fmt.Fprintf(&b, "%8d %s\n", t.Faults[f], f)
	}
	return b.String()
}

func list(m map[string]int) string {
	var texts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		texts = append(texts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(texts, ", ")
}
