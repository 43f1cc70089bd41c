// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/rounds"
)

// Series is many rounds of a seed.
func Series(l *lab.Lab, seed uint64, woven bool) rounds.Series[Result] {
	return rounds.Series[Result]{Seed: seed, Play: func(ctx context.Context, number int) (Result, string, error) {
		return Play(ctx, l, Draw(seed, number, woven))
	}}
}

// Tally sums up rounds.
type Tally struct {
	Rounds int `json:"rounds"`
	// Stale counts the runs that ended with the error that their plan is stale.
	Stale int `json:"stale"`
	// Failed counts the runs that ended with another exit code than 0.
	Failed int `json:"failed"`
	// Again counts the runs that have shown more than one plan, Between those on a
	// server into which the plain Terraform is known to have slipped.
	Again   int `json:"planned_again"`
	Between int `json:"slipped_into"`
	Remote  int `json:"on_a_server"`
	Asked   int `json:"asked"`
	// PlainLocked counts the plain Terraforms that did not get the lock in time.
	PlainLocked int `json:"plain_locked"`
	// Versions counts the versions of states on a server.
	Versions int              `json:"versions"`
	RunP50S  float64          `json:"run_p50_s"`
	RunMaxS  float64          `json:"run_max_s"`
	Broken   map[int][]string `json:"broken_rounds,omitempty"`
}

// TallyOf sums results up.
func TallyOf(results []Result) Tally {
	t := Tally{Broken: make(map[int][]string)}
	var took []float64
	for _, r := range results {
		t.Rounds++
		t.Versions += r.Versions
		took = append(took, r.RunS)
		count(&t.Stale, r.Stale)
		count(&t.Failed, r.Exit != 0)
		count(&t.Again, r.Plans > 1)
		count(&t.Between, r.Between)
		count(&t.Remote, r.Remote)
		count(&t.Asked, r.Asks)
		count(&t.PlainLocked, r.PlainLocked)
		if len(r.Broken) > 0 {
			t.Broken[r.Round] = r.Broken
		}
	}
	t.RunP50S, t.RunMaxS = lab.Percentile(took, 0.5), lab.Percentile(took, 1)
	return t
}

func count(n *int, when bool) {
	if when {
		*n++
	}
}

// Telling says whether the rounds show something: the plain Terraform slipped into
// a fifth of the runs, so that they planned again.
func (t Tally) Telling() error {
	if 5*t.Again < t.Rounds {
		return fmt.Errorf("of %d runs %d planned again: that shows too little", t.Rounds, t.Again)
	}
	return nil
}

// Write prints the tallies of tfweaver and of the control beside each other.
func Write(out io.Writer, woven, control Tally) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "a plain Terraform slips into an apply\ttfweaver\ttwo steps of the CLI\t")
	for _, row := range []struct {
		name string
		of   func(Tally) any
	}{
		{"rounds", func(t Tally) any { return t.Rounds }},
		{"ended as stale", func(t Tally) any { return t.Stale }},
		{"ended with another code than 0", func(t Tally) any { return t.Failed }},
		{"planned again", func(t Tally) any { return t.Again }},
		{"state on a server", func(t Tally) any { return t.Remote }},
		{"of these surely slipped into", func(t Tally) any { return t.Between }},
		{"approved by somebody", func(t Tally) any { return t.Asked }},
		{"plain Terraform got no lock in time", func(t Tally) any { return t.PlainLocked }},
		{"versions of states on a server", func(t Tally) any { return t.Versions }},
		{"seconds, median", func(t Tally) any { return fmt.Sprintf("%.1f", t.RunP50S) }},
		{"seconds, at most", func(t Tally) any { return fmt.Sprintf("%.1f", t.RunMaxS) }},
		{"broken", func(t Tally) any { return len(t.Broken) }},
	} {
		fmt.Fprintf(w, "%s\t%v\t%v\t\n", row.name, row.of(woven), row.of(control))
	}
	return w.Flush()
}
