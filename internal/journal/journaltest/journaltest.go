// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package journaltest is the conformance suite of the journal contract. Every
// implementation runs it.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// Store is one store under test.
type Store struct {
	// Open returns another handle of the store.
	Open func(t *testing.T) journal.Journal
	// Break makes the next write through an open handle of the store fail with
	// an unknown outcome, after it was written or instead of that.
	Break func(t *testing.T, j journal.Journal, written bool)
	// The rest is for stores that survive the process; nil otherwise. They
	// are called while no handle is open.
	Durable *Durable
}

// Durable reaches below the contract.
type Durable struct {
	// Damage spoils the store in one way and names it.
	Damage map[string]func(t *testing.T)
	// MakeNewer makes the store look as a later version would leave it.
	MakeNewer func(t *testing.T)
	// Fingerprint changes whenever anything in the store changes.
	Fingerprint func(t *testing.T) string
}

// Run runs the suite; each case gets a new store.
func Run(t *testing.T, newStore func(t *testing.T) Store) {
	cases := map[string]func(*testing.T, Store){
		"Empty":                    testEmpty,
		"Order":                    testOrder,
		"BatchIsAtomic":            testBatchIsAtomic,
		"GapIsRefused":             testGap,
		"OlderEpochIsFenced":       testFencing,
		"OneLeader":                testOneLeader,
		"PausedLeaderIsFenced":     testPausedLeader,
		"UnknownAppendWritten":     func(t *testing.T, s Store) { testUnknown(t, s, true) },
		"UnknownAppendNotWritten":  func(t *testing.T, s Store) { testUnknown(t, s, false) },
		"UnknownSnapshot":          testUnknownSnapshot,
		"OneOfManyAppends":         testManyAppends,
		"BytesAreCopied":           testBytesAreCopied,
		"AnyBytes":                 testAnyBytes,
		"SnapshotReplaced":         testSnapshotReplaced,
		"TrimmedWhileRead":         testTrimmedWhileRead,
		"ReadFrom":                 testReadFrom,
		"ReadStops":                testReadStops,
		"SnapshotRoundTrip":        testSnapshot,
		"NewestSnapshotWins":       testNewestSnapshot,
		"HalfSnapshotIsInvisible":  testHalfSnapshot,
		"SnapshotAheadIsRefused":   testSnapshotAhead,
		"TrimStopsAtSnapshot":      testTrim,
		"TrimAllKeepsTheNextIndex": testTrimAll,
		"Reopen":                   testReopen,
		"SecretIsStable":           testSecret,
		"Closed":                   testClosed,
		"CancelledContext":         testCancelled,
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, newStore(t))
		})
	}
	runDurable(t, newStore)
}

// leader opens a handle and leads.
func leader(t *testing.T, s Store) (journal.Journal, journal.Epoch) {
	t.Helper()
	j := s.Open(t)
	t.Cleanup(func() { j.Close() })
	return j, lead(t, j)
}

func lead(t *testing.T, j journal.Journal) journal.Epoch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	epoch, err := j.Lead(ctx)
	if err != nil {
		t.Fatalf("Lead: %v", err)
	}
	return epoch
}

// fill appends n records "1", "2", ... behind the last one.
func fill(t *testing.T, j journal.Journal, epoch journal.Epoch, n int) journal.Index {
	t.Helper()
	last, err := j.Last(t.Context())
	if err != nil {
		t.Fatalf("Last: %v", err)
	}
	for range n {
		last, err = j.Append(t.Context(), epoch, last, [][]byte{text(last + 1)})
		if err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	return last
}

func text(i journal.Index) []byte { return fmt.Appendf(nil, "record %d", i) }

// read collects the records from index from on.
func read(t *testing.T, j journal.Journal, from journal.Index) ([]journal.Record, error) {
	t.Helper()
	var all []journal.Record
	for r, err := range j.Read(t.Context(), from) {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// expect fails unless the records from first to last, and only those, follow
// from on.
func expect(t *testing.T, j journal.Journal, first, last journal.Index) {
	t.Helper()
	got, err := read(t, j, first)
	if err != nil {
		t.Fatalf("Read from %d: %v", first, err)
	}
	var have, want []string
	for _, r := range got {
		have = append(have, fmt.Sprintf("%d: %s", r.Index, r.Data))
	}
	for i := first; i <= last; i++ {
		want = append(want, fmt.Sprintf("%d: %s", i, text(i)))
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("records from %d (-want +got):\n%s", first, diff)
	}
	at, err := j.Last(t.Context())
	if err != nil || at != last {
		t.Fatalf("Last = %d, %v; want %d", at, err, last)
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%s: got error %v, want %v", what, got, want)
	}
}

// saved returns the snapshot as text.
func saved(t *testing.T, j journal.Journal) (journal.Index, string) {
	t.Helper()
	at, r, err := j.LoadSnapshot(t.Context())
	if err != nil {
		t.Fatalf("LoadSnapshot: %v", err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read the snapshot: %v", err)
	}
	return at, string(data)
}

func save(t *testing.T, j journal.Journal, epoch journal.Epoch, at journal.Index, state string) {
	t.Helper()
	if err := j.SaveSnapshot(t.Context(), epoch, at, strings.NewReader(state)); err != nil {
		t.Fatalf("SaveSnapshot at %d: %v", at, err)
	}
}

// failing yields some of a state and then an error.
func failing(size int, err error) io.Reader {
	return io.MultiReader(strings.NewReader(strings.Repeat("x", size)), iotest.ErrReader(err))
}
