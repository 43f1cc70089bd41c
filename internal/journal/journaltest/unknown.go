// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// testUnknown: after a write with an unknown outcome the handle says nothing
// and writes nothing until it leads anew; then it is known.
func testUnknown(t *testing.T, s Store, written bool) {
	j, old := leader(t, s)
	fill(t, j, old, 2)
	s.Break(t, j, written)
	_, err := j.Append(t.Context(), old, 2, [][]byte{text(3), text(4)})
	wantError(t, "Append", err, journal.ErrUnknown)
	for _, after := range []journal.Index{2, 4} {
		_, err = j.Append(t.Context(), old, after, [][]byte{[]byte("guess")})
		wantError(t, "Append that guesses", err, journal.ErrUnknown)
	}
	_, err = j.Last(t.Context())
	wantError(t, "Last", err, journal.ErrUnknown)
	_, err = read(t, j, 1)
	wantError(t, "Read", err, journal.ErrUnknown)
	_, _, err = j.LoadSnapshot(t.Context())
	wantError(t, "LoadSnapshot", err, journal.ErrUnknown)
	wantError(t, "SaveSnapshot", j.SaveSnapshot(t.Context(), old, 1, strings.NewReader("guess")), journal.ErrUnknown)
	wantError(t, "Trim", j.Trim(t.Context(), old, 1), journal.ErrUnknown)

	epoch := lead(t, j)
	if epoch <= old {
		t.Errorf("epoch %d follows epoch %d", epoch, old)
	}
	last := journal.Index(2)
	if written {
		last = 4
	}
	expect(t, j, 1, last)
	_, err = j.Append(t.Context(), old, last, [][]byte{[]byte("late")})
	wantError(t, "Append of the old epoch", err, journal.ErrFenced)
	fill(t, j, epoch, 1)
	expect(t, j, 1, last+1)
}

// testUnknownSnapshot: the same for a snapshot, which is there or not.
func testUnknownSnapshot(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 4)
	save(t, j, epoch, 2, "two")
	s.Break(t, j, false)
	wantError(t, "SaveSnapshot", j.SaveSnapshot(t.Context(), epoch, 4, strings.NewReader("four")), journal.ErrUnknown)
	_, err := j.Append(t.Context(), epoch, 4, [][]byte{[]byte("guess")})
	wantError(t, "Append", err, journal.ErrUnknown)
	epoch = lead(t, j)
	if at, state := saved(t, j); at != 2 || state != "two" {
		t.Errorf("the snapshot is %q at %d; want \"two\" at 2", state, at)
	}
	save(t, j, epoch, 4, "four")
	expect(t, j, 1, 4)
}
