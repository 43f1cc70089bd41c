// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/rounds"
)

// Series is many rounds of a seed.
func Series(l *lab.Lab, seed uint64, coordinated bool) rounds.Series[Result] {
	return rounds.Series[Result]{Seed: seed, Play: func(ctx context.Context, number int) (Result, string, error) {
		played, err := Play(ctx, l, Draw(seed, number, coordinated))
		return played.Result, played.Report, err
	}}
}

// Number is that of the round.
func (r Result) Number() int { return r.Round }

// Counts is true: every round shows something.
func (r Result) Counts() bool { return true }

// Told says what was done and what came of it.
func (r Result) Told() string {
	fate := fmt.Sprintf("%s first, whole %v", r.First, r.Whole)
	if r.Lost {
		fate += ", a purpose is lost"
	}
	if len(r.Broken) > 0 {
		fate = fmt.Sprintf("BROKEN: %q", r.Broken)
	}
	return Draw(r.Seed, r.Round, r.Coordinated).String() + ": " + fate
}

// Tally sums up rounds.
type Tally struct {
	Rounds int `json:"rounds"`
	// Lost counts the rounds in which both ended with 0, so that one purpose was
	// lost and nobody told.
	Lost int `json:"lost_intents"`
	// Attributed counts the rounds in which the first thing that the loser was told
	// names the purpose of the other one, Replan those in which it was told to plan
	// again.
	Attributed int `json:"attributed_first_report"`
	Replan     int `json:"replan"`
	// Whole counts the rounds in which one did all that it had planned.
	Whole int `json:"one_whole"`
	// Stray counts calls made for another life of the machine than was planned for.
	Stray int `json:"stray_calls"`
	// Overlap counts the rounds in which both were at it at one time.
	Overlap        int              `json:"overlapping"`
	ReplacerFirst  int              `json:"replacer_first"`
	DestroyerFirst int              `json:"destroyer_first"`
	Broken         map[int][]string `json:"broken_rounds,omitempty"`
}

// TallyOf sums results up.
func TallyOf(results []Result) Tally {
	t := Tally{Broken: make(map[int][]string)}
	for _, r := range results {
		t.Rounds++
		t.Stray += r.Stray
		count(&t.Lost, r.Lost)
		count(&t.Attributed, r.Attributed)
		count(&t.Replan, r.Replan)
		count(&t.Whole, len(r.Whole) == 1)
		count(&t.Overlap, r.Overlap)
		count(&t.ReplacerFirst, r.First == Replacer)
		count(&t.DestroyerFirst, r.First == Destroyer)
		if len(r.Broken) > 0 {
			t.Broken[r.Round] = r.Broken
		}
	}
	return t
}

func count(n *int, when bool) {
	if when {
		*n++
	}
}

// Telling says whether the rounds are of the kind that shows something: at least
// half of them overlap, and each order occurs in a fifth of them.
func (t Tally) Telling() error {
	if 2*t.Overlap < t.Rounds || 5*t.ReplacerFirst < t.Rounds || 5*t.DestroyerFirst < t.Rounds {
		return fmt.Errorf("of %d rounds %d overlap, the replacer was first in %d and the destroyer in %d: that shows too little",
			t.Rounds, t.Overlap, t.ReplacerFirst, t.DestroyerFirst)
	}
	return nil
}

// Write prints the tallies of coordinated runs and of plain ones beside each other.
func Write(out io.Writer, coordinated, plain Tally) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "destroy versus replace of one machine\tcoordinated\tplain\t")
	for _, row := range []struct {
		name string
		of   func(Tally) int
	}{
		{"rounds", func(t Tally) int { return t.Rounds }},
		{"both ended with 0: a purpose is lost", func(t Tally) int { return t.Lost }},
		{"one did all that it had planned", func(t Tally) int { return t.Whole }},
		{"calls for a machine nobody planned for", func(t Tally) int { return t.Stray }},
		{"the second was told to plan again", func(t Tally) int { return t.Replan }},
		{"its first report names the other's purpose", func(t Tally) int { return t.Attributed }},
		{"both at it at one time", func(t Tally) int { return t.Overlap }},
		{"the replacer first", func(t Tally) int { return t.ReplacerFirst }},
		{"the destroyer first", func(t Tally) int { return t.DestroyerFirst }},
	} {
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", row.name, row.of(coordinated), row.of(plain))
	}
	return w.Flush()
}
