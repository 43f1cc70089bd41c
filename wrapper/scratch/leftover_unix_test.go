// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package scratch

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestLeftovers: only what nobody holds is found, and it is there afterwards.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dead := filepath.Join(parent, prefix+"7")
	abandoned(t, dead)
	abandoned(t, filepath.Join(parent, "plugin7"))
	alive, err := open(parent) // which removes the dead one
	if err != nil {
		t.Fatal(err)
	}
	abandoned(t, dead)
	for range 2 {
		if got := leftovers(parent); !slices.Equal(got, []string{dead}) {
			t.Errorf("leftovers %q, want %q", got, dead)
		}
	}
	if err := alive.Remove(); err != nil {
		t.Error(err)
	}
	if got := leftovers(filepath.Join(parent, "nowhere")); got != nil {
		t.Errorf("leftovers %q of no folder", got)
	}
}
