// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// testPausedLeader: a leader that was superseded without noticing writes
// nothing any more. Where the lock on the store keeps anybody from superseding
// it, the successor comes after its end.
func testPausedLeader(t *testing.T, s Store) {
	paused, old := leader(t, s)
	fill(t, paused, old, 2)
	if !paused.Capabilities().FencesPaused {
		paused.Close()
	}
	next, epoch := leader(t, s)
	fill(t, next, epoch, 1)
	late := map[string]func() error{
		"Append": func() error {
			_, err := paused.Append(t.Context(), old, 3, [][]byte{[]byte("late")})
			return err
		},
		"Append where it was": func() error {
			_, err := paused.Append(t.Context(), old, 2, [][]byte{[]byte("late")})
			return err
		},
		"SaveSnapshot": func() error { return paused.SaveSnapshot(t.Context(), old, 2, strings.NewReader("late")) },
		"Trim":         func() error { return paused.Trim(t.Context(), old, 2) },
	}
	for what, f := range late {
		if err := f(); !errors.Is(err, journal.ErrFenced) && !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s of a superseded leader: %v", what, err)
		}
	}
	_, err := next.Append(t.Context(), old, 3, [][]byte{[]byte("late")})
	wantError(t, "Append of its epoch", err, journal.ErrFenced)
	expect(t, next, 1, 3)
}

// testManyAppends: of all that want the same place, one gets it.
func testManyAppends(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	const places, rivals = 5, 4
	var won atomic.Int64
	for at := range journal.Index(places) {
		var all sync.WaitGroup
		for range rivals {
			all.Go(func() {
				last, err := j.Append(t.Context(), epoch, at, [][]byte{text(at + 1)})
				if err == nil && last == at+1 {
					won.Add(1)
				} else if !errors.Is(err, journal.ErrGap) {
					t.Errorf("Append = %d, %v", last, err)
				}
			})
		}
		all.Wait()
	}
	if won.Load() != places {
		t.Errorf("%d appends to %d places were acknowledged", won.Load(), places)
	}
	expect(t, j, 1, places)
}

// testBytesAreCopied: what the caller does with its memory later changes
// nothing.
func testBytesAreCopied(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	mine := text(1)
	if _, err := j.Append(t.Context(), epoch, 0, [][]byte{mine}); err != nil {
		t.Fatal(err)
	}
	clear(mine)
	got, err := read(t, j, 1)
	if err != nil || len(got) != 1 {
		t.Fatalf("Read = %d records, %v", len(got), err)
	}
	clear(got[0].Data)
	expect(t, j, 1, 1)
}

// testAnyBytes: a record may be empty, long, and of any bytes.
func testAnyBytes(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	batch := [][]byte{nil, {0}, {0xff, 0, '\n'}, bytes.Repeat([]byte{7}, 1<<20), {}}
	if _, err := j.Append(t.Context(), epoch, 0, batch); err != nil {
		t.Fatal(err)
	}
	j.Close()
	again, _ := leader(t, s)
	got, err := read(t, again, 1)
	if err != nil || len(got) != len(batch) {
		t.Fatalf("Read = %d records, %v", len(got), err)
	}
	for i, r := range got {
		if !bytes.Equal(r.Data, batch[i]) {
			t.Errorf("record %d has %d bytes; want %d", r.Index, len(r.Data), len(batch[i]))
		}
	}
}

// testSnapshotReplaced: a reader whose snapshot is replaced gets all of it or
// an error, and never parts of two.
func testSnapshotReplaced(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 2)
	state := strings.Repeat("1", big)
	save(t, j, epoch, 1, state)
	_, r, err := j.LoadSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, 10); err != nil {
		t.Fatal(err)
	}
	save(t, j, epoch, 2, strings.Repeat("2", big))
	rest, err := io.ReadAll(r)
	if err == nil && string(rest) != state[10:] {
		t.Errorf("%d bytes were read that are not the rest of the snapshot", len(rest))
	}
	if bytes.ContainsRune(rest, '2') {
		t.Error("two snapshots are mixed")
	}
}

// testTrimmedWhileRead: a reader that is overtaken by Trim is told so, and
// skips nothing in silence.
func testTrimmedWhileRead(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	const records = 1000
	batch := make([][]byte, records)
	for i := range batch {
		batch[i] = text(journal.Index(i + 1))
	}
	if _, err := j.Append(t.Context(), epoch, 0, batch); err != nil {
		t.Fatal(err)
	}
	save(t, j, epoch, records, "all")
	next := journal.Index(1)
	var err error
	for r, e := range j.Read(t.Context(), 1) {
		if err = e; err != nil {
			break
		}
		if r.Index != next {
			t.Fatalf("record %d follows %d", r.Index, next-1)
		}
		if next++; next == 10 {
			if err := j.Trim(t.Context(), epoch, records); err != nil {
				t.Fatal(fmt.Errorf("trim: %w", err))
			}
		}
	}
	if err == nil && next != records+1 || err != nil && !errors.Is(err, journal.ErrCompacted) {
		t.Errorf("the read ended behind record %d: %v", next-1, err)
	}
}
