// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

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
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Series is many rounds of one seed. Rounds that an earlier, interrupted series
// has noted in the same folder are not repeated.
type Series struct {
	Lab  *lab.Lab
	Seed uint64
	// Kills is how many rounds have to meet their target.
	Kills int
	// Together is how many rounds go on at a time; 0 means 1.
	Together int
	// Out is the folder of the notes and of the reports on what is broken; empty
	// to keep neither.
	Out      string
	Progress lab.Progress
}

// mostRounds bounds the rounds of a series as a multiple of its kills: a target
// that hardly ever is there must not make it endless.
const mostRounds = 4

// Run carries the series out and returns all results, with those of before. An
// error is a round that could not be carried out.
func (s Series) Run(ctx context.Context) (Tally, error) {
	results, err := s.noted()
	if err != nil {
		return Tally{}, err
	}
	tally := TallyOf(results)
	if len(results) > 0 {
		s.Progress("%d rounds are done already", len(results))
	}
	done := make(map[int]bool)
	for _, r := range results {
		done[r.Round] = true
	}
	w := &work{series: s, tally: tally, done: done, began: time.Now()}
	var group sync.WaitGroup
	for range max(s.Together, 1) {
		group.Go(func() { w.loop(ctx) })
	}
	group.Wait()
	return w.tally, errors.Join(w.errs...)
}

// work is shared by the rounds that go on together.
type work struct {
	series Series
	mu     sync.Mutex
	next   int
	busy   int
	done   map[int]bool
	tally  Tally
	errs   []error
	began  time.Time
}

func (w *work) loop(ctx context.Context) {
	for {
		number, ok := w.take(ctx)
		if !ok {
			return
		}
		round := Draw(w.series.Seed, number)
		result, report, err := Play(ctx, w.series.Lab, round)
		w.note(round, result, report, err)
	}
}

// take is the number of the next round; ok is false when there are enough.
func (w *work) take(ctx context.Context) (number int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.done[w.next] {
		w.next++
	}
	enough := w.tally.Kills+w.busy >= w.series.Kills || w.next >= mostRounds*w.series.Kills
	if enough || len(w.errs) > 0 || ctx.Err() != nil {
		return 0, false
	}
	w.next++
	w.busy++
	return w.next - 1, true
}

// note keeps what came of a round.
func (w *work) note(round Round, result Result, report string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	if err == nil {
		w.tally.add(result)
		err = w.series.write(result, report)
	}
	if err != nil {
		w.errs = append(w.errs, err)
		return
	}
	fate := "all well"
	if !result.Killed {
		fate = "nothing to kill"
	}
	if len(result.Broken) > 0 {
		fate = fmt.Sprintf("BROKEN: %q", result.Broken)
	}
	w.series.Progress("%d of %d: %v: %s", w.tally.Kills, w.series.Kills, round, fate)
}

func (s Series) notes() string {
	return filepath.Join(s.Out, fmt.Sprintf("seed-%d.jsonl", s.Seed))
}

// noted are the results of an earlier series. A line that was cut off when it was
// killed itself is left out.
func (s Series) noted() (results []Result, err error) {
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
		var r Result
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			results = append(results, r)
		}
	}
	return results, lines.Err()
}

// write notes a result, and keeps the report on what is broken.
func (s Series) write(r Result, report string) error {
	if s.Out == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("note round %d: %w", r.Round, err)
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return fmt.Errorf("note round %d: %w", r.Round, err)
	}
	f, err := os.OpenFile(s.notes(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("note round %d: %w", r.Round, err)
	}
	// A line that was cut off would swallow the next one: each begins anew.
	_, err = f.Write(slices.Concat([]byte{'\n'}, line, []byte{'\n'}))
	if report != "" {
		file := filepath.Join(s.Out, fmt.Sprintf("seed-%d-round-%d.txt", s.Seed, r.Round))
		err = errors.Join(err, os.WriteFile(file, []byte(report), 0o644))
	}
	return errors.Join(err, f.Close())
}
