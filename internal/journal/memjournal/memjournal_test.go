// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package memjournal_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/journaltest"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(*testing.T) journaltest.Store {
		store := memjournal.NewStore()
		return journaltest.Store{
			Open:  func(*testing.T) journal.Journal { return store.Open() },
			Break: func(_ *testing.T, _ journal.Journal, written bool) { store.Break(written) },
		}
	})
}
