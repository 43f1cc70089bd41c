// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package rounds carries out many small experiments that are drawn from a seed,
// some of them at a time, notes what came of each, and goes on where it was after
// an interruption.
package rounds

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Outcome is what came of a round; it is noted as JSON.
type Outcome interface {
	// Number is that of the round.
	Number() int
	// Counts is false for a round that showed nothing and is made up for.
	Counts() bool
	// Told is the outcome in a few words.
	Told() string
}

// Series is many rounds of one seed.
type Series[O Outcome] struct {
	Seed uint64
	// Wanted is how many rounds have to count.
	Wanted int
	// Together is how many rounds go on at a time; 0 means 1.
	Together int
	// Out is the folder of the notes and of the reports; empty to keep neither.
	Out      string
	Progress lab.Progress
	// Play carries a round out. An error is a round that could not be carried out,
	// and ends the series. report is for people and is kept if it is not empty.
	Play func(ctx context.Context, number int) (outcome O, report string, err error)
}

// mostRounds bounds the rounds of a series as a multiple of those wanted.
const mostRounds = 4

// Run carries the series out and returns all outcomes, with those that an earlier
// series has noted.
func (s Series[O]) Run(ctx context.Context) ([]O, error) {
	outcomes, err := s.noted()
	if err != nil {
		return nil, err
	}
	w := &work[O]{series: s, done: make(map[int]bool)}
	for _, o := range outcomes {
		w.keep(o)
	}
	if len(outcomes) > 0 {
		s.Progress("%d rounds are done already", len(outcomes))
	}
	var group sync.WaitGroup
	for range max(s.Together, 1) {
		group.Go(func() { w.loop(ctx) })
	}
	group.Wait()
	return w.outcomes, errors.Join(w.errs...)
}

// work is shared by the rounds that go on together.
type work[O Outcome] struct {
	series   Series[O]
	mu       sync.Mutex
	next     int
	busy     int
	counted  int
	done     map[int]bool
	outcomes []O
	errs     []error
}

// keep takes an outcome into the account.
func (w *work[O]) keep(o O) {
	w.outcomes = append(w.outcomes, o)
	w.done[o.Number()] = true
	if o.Counts() {
		w.counted++
	}
}

func (w *work[O]) loop(ctx context.Context) {
	for {
		number, ok := w.take(ctx)
		if !ok {
			return
		}
		outcome, report, err := w.series.Play(ctx, number)
		w.note(number, outcome, report, err)
	}
}

// take is the number of the next round; ok is false when there are enough.
func (w *work[O]) take(ctx context.Context) (number int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.done[w.next] {
		w.next++
	}
	enough := w.counted+w.busy >= w.series.Wanted || w.next >= mostRounds*w.series.Wanted
	if enough || len(w.errs) > 0 || ctx.Err() != nil {
		return 0, false
	}
	w.next++
	w.busy++
	return w.next - 1, true
}

// note keeps what came of a round.
func (w *work[O]) note(number int, outcome O, report string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	if err == nil {
		w.keep(outcome)
		err = w.series.write(outcome, report)
	}
	if err != nil {
		if report != "" {
			err = errors.Join(err, w.series.keepReport(number, report))
		}
		w.errs = append(w.errs, err)
		return
	}
	w.series.Progress("%d of %d: %s", w.counted, w.series.Wanted, outcome.Told())
}

func (s Series[O]) notes() string {
	return filepath.Join(s.Out, fmt.Sprintf("seed-%d.jsonl", s.Seed))
}

// noted are the outcomes of an earlier series. A line that was cut off when it was
// killed itself is left out.
func (s Series[O]) noted() (outcomes []O, err error) {
	if s.Out == "" {
		return nil, nil
	}
	f, err := os.Open(s.notes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the notes of earlier rounds: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var o O
		if json.Unmarshal(lines.Bytes(), &o) == nil {
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, lines.Err()
}

// write notes an outcome, and keeps the report.
func (s Series[O]) write(o O, report string) error {
	if s.Out == "" {
		return nil
	}
	line, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(s.Out, 0o755)
	}
	if err != nil {
		return fmt.Errorf("note round %d: %w", o.Number(), err)
	}
	f, err := os.OpenFile(s.notes(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("note round %d: %w", o.Number(), err)
	}
	// A line that was cut off would swallow the next one: each begins anew.
	_, err = f.Write(slices.Concat([]byte{'\n'}, line, []byte{'\n'}))
	if report != "" {
		err = errors.Join(err, s.keepReport(o.Number(), report))
	}
	return errors.Join(err, f.Close())
}

func (s Series[O]) keepReport(number int, report string) error {
	if s.Out == "" {
		return nil
	}
	file := filepath.Join(s.Out, fmt.Sprintf("seed-%d-round-%d.txt", s.Seed, number))
	return errors.Join(os.MkdirAll(s.Out, 0o755), os.WriteFile(file, []byte(report), 0o644))
}
