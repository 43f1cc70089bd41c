// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// big is more than one chunk of any implementation.
const big = 3<<20 + 17

func testSnapshot(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 5)
	for _, state := range []string{"", "small", strings.Repeat("0123456789abcdef", big/16)} {
		save(t, j, epoch, 5, state)
		if at, got := saved(t, j); at != 5 || got != state {
			t.Fatalf("saved %d bytes at 5, got %d bytes at %d", len(state), len(got), at)
		}
	}
	expect(t, j, 1, 5)
}

func testNewestSnapshot(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 5)
	save(t, j, epoch, 2, "two")
	save(t, j, epoch, 5, "five")
	save(t, j, epoch, 3, "three")
	if at, got := saved(t, j); at != 5 || got != "five" {
		t.Errorf("the snapshot is %q at %d; want \"five\" at 5", got, at)
	}
}

func testHalfSnapshot(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 5)
	broken := errors.New("the state ended early")
	wantError(t, "SaveSnapshot", j.SaveSnapshot(t.Context(), epoch, 1, failing(big, broken)), broken)
	_, _, err := j.LoadSnapshot(t.Context())
	wantError(t, "LoadSnapshot", err, journal.ErrNoSnapshot)

	save(t, j, epoch, 2, "two")
	wantError(t, "SaveSnapshot", j.SaveSnapshot(t.Context(), epoch, 4, failing(big, broken)), broken)
	if at, got := saved(t, j); at != 2 || got != "two" {
		t.Errorf("the snapshot is %d bytes at %d; want \"two\" at 2", len(got), at)
	}
}

func testSnapshotAhead(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 2)
	err := j.SaveSnapshot(t.Context(), epoch, 3, strings.NewReader("three"))
	wantError(t, "SaveSnapshot", err, journal.ErrGap)
	_, _, err = j.LoadSnapshot(t.Context())
	wantError(t, "LoadSnapshot", err, journal.ErrNoSnapshot)
}

func testTrim(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 10)
	trim := func(to journal.Index) {
		t.Helper()
		if err := j.Trim(t.Context(), epoch, to); err != nil {
			t.Fatalf("Trim to %d: %v", to, err)
		}
	}
	trim(10)
	expect(t, j, 1, 10) // no snapshot: nothing is forgotten
	save(t, j, epoch, 6, "six")
	trim(4)
	expect(t, j, 5, 10)
	trim(2)
	expect(t, j, 5, 10)
	trim(99)
	expect(t, j, 7, 10)
	for _, from := range []journal.Index{0, 1, 6} {
		_, err := read(t, j, from)
		wantError(t, "Read of trimmed records", err, journal.ErrCompacted)
	}
	fill(t, j, epoch, 1)
	expect(t, j, 7, 11)
}

func testTrimAll(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 3)
	save(t, j, epoch, 3, "three")
	if err := j.Trim(t.Context(), epoch, 3); err != nil {
		t.Fatalf("Trim: %v", err)
	}
	expect(t, j, 4, 3)
	j.Close()
	again, epoch := leader(t, s)
	expect(t, again, 4, 3)
	fill(t, again, epoch, 1)
	expect(t, again, 4, 4)
}
