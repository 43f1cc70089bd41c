// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"sync"
	"sync/atomic"
)

// Job is a configuration to explore, up to a limit.
type Job struct {
	*Config
	Limit Limit
}

// Campaign is a list of configurations to explore.
type Campaign struct {
	Jobs []Job
	// Enough ends the campaign when so many worlds were seen; 0 is all.
	Enough int
	// Codec is how often a decision is encoded, decoded and folded onto a
	// snapshot as well: every so many; 1 is always.
	Codec int
	// Workers is how many configurations are searched at a time.
	Workers int
	// Progress is told of each configuration that was searched, from one
	// goroutine at a time; may be nil.
	Progress func(*Config, Stats)
}

// Outcome is what a campaign has seen.
type Outcome struct {
	Stats
	// Pairs counts what was tried of each command and status; Missing are those
	// that never were.
	Pairs   map[string]int
	Missing []string
	// Finding is the first in the order of the configurations, nil for none.
	Finding *Finding
}

// Run explores the configurations. It ends with the first finding.
func (x Campaign) Run() Outcome {
	var (
		mu    sync.Mutex
		next  atomic.Int64
		total Outcome
		first = len(x.Jobs)
		group sync.WaitGroup
	)
	total.Pairs = map[string]int{}
	done := func(i int, stats Stats, err error) {
		mu.Lock()
		defer mu.Unlock()
		total.Add(stats)
		if f, ok := err.(*Finding); ok && i < first {
			first, total.Finding = i, f
		}
		if total.Finding != nil || x.Enough > 0 && total.States >= x.Enough {
			next.Store(int64(len(x.Jobs)))
		}
		if x.Progress != nil {
			x.Progress(x.Jobs[i].Config, stats)
		}
	}
	for range max(1, x.Workers) {
		group.Go(func() {
			s, cover := newSearch(), newCoverage(50)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(x.Jobs) {
					break
				}
				stats, err := s.explore(x.Jobs[i].Config, x.Jobs[i].Limit, cover, x.Codec)
				done(i, stats, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for k, n := range cover.pairs {
				total.Pairs[k] += n
			}
		})
	}
	group.Wait()
	total.Missing = (&coverage{pairs: total.Pairs}).missing()
	return total
}
