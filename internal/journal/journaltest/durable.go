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

// testDamaged: damage is found on the way to the first decision, be it at Lead
// or while reading, and the store keeps what it holds for a rescue.
func testDamaged(t *testing.T, s Store, damage func(*testing.T)) {
	populate(t, s)
	damage(t)
	before := s.Durable.Fingerprint(t)
	j := s.Open(t)
	defer j.Close()
	_, err := j.Lead(t.Context())
	if err == nil {
		// The epoch was raised, so the bytes changed; what matters is that
		// no record is given out as if it were whole.
		_, err = read(t, j, 1)
		wantError(t, "Read", err, journal.ErrCorrupt)
		return
	}
	wantError(t, "Lead", err, journal.ErrCorrupt)
	j.Close()
	if after := s.Durable.Fingerprint(t); after != before {
		t.Error("the damaged store was changed")
	}
}

func testNewer(t *testing.T, s Store) {
	populate(t, s)
	s.Durable.MakeNewer(t)
	before := s.Durable.Fingerprint(t)
	j := s.Open(t)
	defer j.Close()
	_, err := j.Lead(t.Context())
	wantError(t, "Lead", err, journal.ErrNewer)
	j.Close()
	if after := s.Durable.Fingerprint(t); after != before {
		t.Error("the newer store was changed")
	}
}
