// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/lineup"
)

// OneState is the figure of six applies on one state, medians over all rounds.
// Every apply holds the state for some two seconds.
type OneState struct {
	Rounds   int `json:"rounds"`
	Sessions int `json:"sessions"`
	// TotalS are the seconds from the first start of a process to the last end.
	TotalS map[lineup.Way]float64 `json:"total_s"`
	// Ratio is all at once against one after another, for the same program;
	// AgainstPlain is tfweaver, all at once, against plain Terraform, one after
	// another.
	Ratio        map[lineup.Way]float64 `json:"ratio"`
	AgainstPlain float64                `json:"ratio_against_plain"`
	// Refused counts runs that did not end with 0, over all rounds.
	Refused map[lineup.Way]int `json:"refused"`
	// InOrder counts the rounds of tfweaver that ran first come, first served.
	InOrder int `json:"in_order"`
	// The idle gaps are from the end of the lock of one to the beginning of that of
	// the next one. StartToLock is what the CLI alone needs from its start to the
	// lock, which is a part of each gap.
	GapP50Millis      map[lineup.Way]float64 `json:"gap_p50_ms"`
	GapMaxMillis      map[lineup.Way]float64 `json:"gap_max_ms"`
	StartToLockMillis float64                `json:"cli_start_to_lock_ms"`
	HeldP50S          float64                `json:"held_p50_s"`
	// Lost counts the rounds in which a version of the state was lost.
	Lost int `json:"lost_versions"`
}

// oneState repeats the scenario, one way after another in each round, so that a
// busy moment of the machine meets all of them.
func oneState(ctx context.Context, l *lab.Lab, rounds int, progress lab.Progress) (OneState, error) {
	sum := OneState{
		Rounds: rounds, Sessions: sessions, TotalS: make(map[lineup.Way]float64), Ratio: make(map[lineup.Way]float64), Refused: make(map[lineup.Way]int),
		GapP50Millis: make(map[lineup.Way]float64), GapMaxMillis: make(map[lineup.Way]float64),
	}
	all := make(map[lineup.Way][]lineup.StateResult)
	for round := range rounds {
		for _, way := range lineup.Ways() {
			r, err := onFresh(ctx, l, lineup.StateSetup(), func(ctx context.Context, e *lab.Experiment, n int) (lineup.StateResult, error) {
				return lineup.OneState(ctx, e, n, way)
			})
			if err != nil {
				return sum, fmt.Errorf("round %d of applies on one state, %s: %w", round+1, way, err)
			}
			progress("%d applies on one state, %s: %.1f s, idle gaps %v, %d refused", sessions, way, r.Total.Seconds(), rounded(r.Gaps), r.Refused)
			all[way] = append(all[way], r)
		}
	}
	for way, results := range all {
		sum.take(way, results)
	}
	sum.Ratio[lineup.Woven] = sum.TotalS[lineup.Woven] / sum.TotalS[lineup.WovenByTurns]
	sum.Ratio[lineup.Plain] = sum.TotalS[lineup.Plain] / sum.TotalS[lineup.PlainByTurns]
	sum.AgainstPlain = sum.TotalS[lineup.Woven] / sum.TotalS[lineup.PlainByTurns]
	return sum, nil
}

// take takes the results of one way into the account.
func (s *OneState) take(way lineup.Way, results []lineup.StateResult) {
	var totals, gaps, locks, held []time.Duration
	for _, r := range results {
		totals, gaps = append(totals, r.Total), append(gaps, r.Gaps...)
		locks, held = append(locks, r.StartToLock...), append(held, r.Held...)
		s.Refused[way] += r.Refused
		if way == lineup.Woven && slices.Equal(r.Queue, r.Ran) {
			s.InOrder++
		}
		if r.Chained != nil {
			s.Lost++
		}
	}
	s.TotalS[way] = lab.Percentile(totals, 0.5).Seconds()
	s.GapP50Millis[way], s.GapMaxMillis[way] = millis(lab.Percentile(gaps, 0.5)), millis(lab.Percentile(gaps, 1))
	switch way {
	case lineup.PlainByTurns:
		s.StartToLockMillis = millis(lab.Percentile(locks, 0.5))
	case lineup.Woven:
		s.HeldP50S = lab.Percentile(held, 0.5).Seconds()
	}
}

func rounded(all []time.Duration) (short []time.Duration) {
	for _, d := range all {
		short = append(short, d.Round(time.Millisecond))
	}
	return short
}
