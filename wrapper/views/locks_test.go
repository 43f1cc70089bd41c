// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

// TestLocksOfAnEndedSession: who left a call behind stays named.
func TestLocksOfAnEndedSession(t *testing.T) {
	t.Parallel()
	got := LocksText(coordinator.Status{
		Locks: []coordinator.LockStatus{{Node: "/net", Mode: "X", Tx: "t11", Session: "s-7", Actor: "Alice", Address: "s.a"}},
	})
	if !strings.Contains(got, "Alice") || strings.Contains(got, "s-7") {
		t.Errorf("locks: %s", got)
	}
}
