// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/journal"
)

func testEmpty(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	if epoch == 0 {
		t.Error("the first epoch is 0")
	}
	expect(t, j, 1, 0)
	_, _, err := j.LoadSnapshot(t.Context())
	wantError(t, "LoadSnapshot", err, journal.ErrNoSnapshot)
}

func testOrder(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	if last := fill(t, j, epoch, 600); last != 600 {
		t.Fatalf("the last of 600 records has index %d", last)
	}
	expect(t, j, 1, 600)
	got, err := read(t, j, 600)
	if err != nil || len(got) != 1 || got[0].Epoch != epoch {
		t.Errorf("the last record is %+v, %v; want one of epoch %d", got, err, epoch)
	}
}

func testBatchIsAtomic(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	last, err := j.Append(t.Context(), epoch, 0, [][]byte{text(1), text(2), text(3)})
	if err != nil || last != 3 {
		t.Fatalf("Append = %d, %v; want 3", last, err)
	}
	if _, err := j.Append(t.Context(), epoch, 2, [][]byte{text(4), text(5)}); err == nil {
		t.Fatal("a batch behind an inner record was taken")
	}
	last, err = j.Append(t.Context(), epoch, 3, nil)
	if err != nil || last != 3 {
		t.Fatalf("an empty Append = %d, %v; want 3", last, err)
	}
	expect(t, j, 1, 3)
}

func testGap(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 2)
	for _, after := range []journal.Index{0, 1, 3, 99} {
		_, err := j.Append(t.Context(), epoch, after, [][]byte{[]byte("lost")})
		wantError(t, "Append elsewhere", err, journal.ErrGap)
	}
	expect(t, j, 1, 2)
}

func testFencing(t *testing.T, s Store) {
	j, old := leader(t, s)
	fill(t, j, old, 1)
	epoch := lead(t, j)
	if epoch <= old {
		t.Fatalf("epoch %d follows epoch %d", epoch, old)
	}
	_, err := j.Append(t.Context(), old, 1, [][]byte{[]byte("late")})
	wantError(t, "Append", err, journal.ErrFenced)
	_, err = j.Append(t.Context(), epoch+1, 1, [][]byte{[]byte("early")})
	wantError(t, "Append of an epoch that does not lead yet", err, journal.ErrFenced)
	wantError(t, "SaveSnapshot", j.SaveSnapshot(t.Context(), old, 1, strings.NewReader("late")), journal.ErrFenced)
	wantError(t, "Trim", j.Trim(t.Context(), old, 1), journal.ErrFenced)
	expect(t, j, 1, 1)
	fill(t, j, epoch, 1)
	expect(t, j, 1, 2)
}

// testOneLeader: a second handle either waits or fences the first; there is
// never a moment in which both may append.
func testOneLeader(t *testing.T, s Store) {
	first, old := leader(t, s)
	fill(t, first, old, 1)
	second := s.Open(t)
	defer second.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	epoch, err := second.Lead(ctx)
	if err != nil {
		wantError(t, "Lead of a second handle", err, journal.ErrInUse)
		fill(t, first, old, 1)
		if err := first.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if epoch = lead(t, second); epoch <= old {
			t.Fatalf("epoch %d follows epoch %d", epoch, old)
		}
	} else {
		_, err := first.Append(t.Context(), old, 1, [][]byte{[]byte("late")})
		wantError(t, "Append of the first handle", err, journal.ErrFenced)
		fill(t, second, epoch, 1)
	}
	expect(t, second, 1, 2)
}

func testReadFrom(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 10)
	expect(t, j, 7, 10)
	expect(t, j, 10, 10)
	expect(t, j, 11, 10)
	got, err := read(t, j, 0)
	if err != nil || len(got) != 10 {
		t.Errorf("Read from 0 gives %d records, %v; want 10", len(got), err)
	}
}

// testReadStops: leaving a loop early leaves nothing behind that would hold up
// a later Append.
func testReadStops(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 3)
	for r, err := range j.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		fill(t, j, epoch, 1) // appending while reading is allowed
		if r.Index == 2 {
			break
		}
	}
	expect(t, j, 1, 5)
}

func testReopen(t *testing.T, s Store) {
	j, old := leader(t, s)
	fill(t, j, old, 3)
	save(t, j, old, 2, "two")
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	again, epoch := leader(t, s)
	if epoch <= old {
		t.Errorf("epoch %d follows epoch %d", epoch, old)
	}
	expect(t, again, 1, 3)
	if at, state := saved(t, again); at != 2 || state != "two" {
		t.Errorf("the snapshot is %q at %d; want \"two\" at 2", state, at)
	}
	fill(t, again, epoch, 1)
	expect(t, again, 1, 4)
}

func testSecret(t *testing.T, s Store) {
	j, _ := leader(t, s)
	secret, err := j.Secret(t.Context())
	if err != nil || len(secret) != journal.SecretSize {
		t.Fatalf("Secret = %d bytes, %v", len(secret), err)
	}
	clear(secret) // the caller's copy is its own
	j.Close()
	again, _ := leader(t, s)
	first, err := again.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lead(t, again)
	second, err := again.Secret(t.Context())
	if err != nil || string(first) != string(second) {
		t.Errorf("the secret changed with the leader (%v)", err)
	}
	if string(first) == string(secret) {
		t.Error("the secret is all zeros")
	}
}

func testClosed(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	_, err := j.Append(t.Context(), epoch, 0, [][]byte{text(1)})
	wantError(t, "Append", err, journal.ErrClosed)
	_, err = j.Lead(t.Context())
	wantError(t, "Lead", err, journal.ErrClosed)
	_, err = read(t, j, 1)
	wantError(t, "Read", err, journal.ErrClosed)
}

func testCancelled(t *testing.T, s Store) {
	j, epoch := leader(t, s)
	fill(t, j, epoch, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Append(ctx, epoch, 1, [][]byte{text(2)}); err == nil {
		t.Error("Append with a cancelled context succeeded")
	}
	for _, err := range j.Read(ctx, 1) {
		wantError(t, "Read", err, context.Canceled)
	}
	expect(t, j, 1, 1)
}
