// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package journaltest

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// runDurable runs what only a store on a disk can be asked.
func runDurable(t *testing.T, newStore func(t *testing.T) Store) {
	probe := newStore(t).Durable
	if probe == nil {
		return
	}
	for name := range probe.Damage {
		t.Run("Damaged/"+name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			testDamaged(t, s, s.Durable.Damage[name])
		})
	}
	t.Run("LeadLeavesNoTrace", func(t *testing.T) {
		t.Parallel()
		testLeadLeavesNoTrace(t, newStore(t))
	})
	t.Run("NewerIsLeftAlone", func(t *testing.T) {
		t.Parallel()
		testNewer(t, newStore(t))
	})
}

// populate leaves a store with records and a snapshot, closed.
func populate(t *testing.T, s Store) {
	t.Helper()
	j, epoch := leader(t, s)
	fill(t, j, epoch, 20)
	save(t, j, epoch, 10, "ten")
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// testDamaged: damage is found before anything is written, and the store keeps
// what it holds for a rescue.
func testDamaged(t *testing.T, s Store, damage func(*testing.T)) {
	populate(t, s)
	damage(t)
	wantLeftAlone(t, s, journal.ErrCorrupt)
}

func testNewer(t *testing.T, s Store) {
	populate(t, s)
	s.Durable.MakeNewer(t)
	wantLeftAlone(t, s, journal.ErrNewer)
}

// wantLeftAlone: nobody can lead the store, and trying leaves no trace.
func wantLeftAlone(t *testing.T, s Store, want error) {
	t.Helper()
	before := s.Durable.Fingerprint(t)
	j := s.Open(t)
	defer j.Close()
	_, err := j.Lead(t.Context())
	wantError(t, "Lead", err, want)
	j.Close()
	if after := s.Durable.Fingerprint(t); after != before {
		t.Error("the store was changed")
	}
}

// testLeadLeavesNoTrace: whoever leads, and finds that the records say
// something that they do not understand, has changed nothing.
func testLeadLeavesNoTrace(t *testing.T, s Store) {
	populate(t, s)
	before := s.Durable.Fingerprint(t)
	j, _ := leader(t, s)
	expect(t, j, 1, 20)
	saved(t, j)
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if after := s.Durable.Fingerprint(t); after != before {
		t.Error("Lead changed the store")
	}
}
