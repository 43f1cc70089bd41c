// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rounds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type outcome struct {
	N      int  `json:"n"`
	Missed bool `json:"missed"`
}

func (o outcome) Number() int  { return o.N }
func (o outcome) Counts() bool { return !o.Missed }
func (o outcome) Told() string { return "told" }

func quietly(string, ...any) {}

// series notes in a folder; every third round shows nothing.
func series(out string, wanted int) Series[outcome] {
	return Series[outcome]{
		Seed: 3, Wanted: wanted, Together: 2, Out: out, Progress: quietly,
		Play: func(_ context.Context, number int) (outcome, string, error) {
			return outcome{number, number%3 == 0}, strings.Repeat("report", number%2), nil
		},
	}
}

func numbers(outcomes []outcome) (all []int) {
	for _, o := range outcomes {
		all = append(all, o.N)
	}
	slices.Sort(all)
	return all
}

func TestRoundsThatShowNothingAreMadeUpFor(t *testing.T) {
	t.Parallel()
	got, err := series(t.TempDir(), 4).Run(t.Context())
	counted := 0
	for _, o := range got {
		if o.Counts() {
			counted++
		}
	}
	if err != nil || counted != 4 || len(got) < 5 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSeriesGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	first := series(out, 2)
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A line that was cut off does not count, and swallows nothing.
	f, err := os.OpenFile(first.notes(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":99,"mis`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := series(out, 4)
	played := 0
	play := again.Play
	again.Together = 1
	again.Play = func(ctx context.Context, number int) (outcome, string, error) {
		played++
		return play(ctx, number)
	}
	got, err := again.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := numbers(got)
	if len(slices.Compact(slices.Clone(all))) != len(all) || played >= len(all) || slices.Contains(all, 99) {
		t.Errorf("%d rounds were played again of %v", played, all)
	}
	if noted, err := again.noted(); err != nil || !slices.Equal(numbers(noted), all) {
		t.Errorf("noted are %v, %v", noted, err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "seed-3-round-1.txt")); string(text) != "report" || err != nil {
		t.Errorf("the report is %q, %v", text, err)
	}
}

func TestSeriesEndsWithAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := series(t.TempDir(), 50)
	s.Play = func(_ context.Context, number int) (outcome, string, error) {
		if number == 3 {
			return outcome{}, "the story", broken
		}
		return outcome{N: number}, "", nil
	}
	got, err := s.Run(t.Context())
	if !errors.Is(err, broken) || len(got) > 6 {
		t.Errorf("%d rounds, %v", len(got), err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Out, "seed-3-round-3.txt")); string(text) != "the story" || err != nil {
		t.Errorf("the report is %q, %v", text, err)
	}
}
