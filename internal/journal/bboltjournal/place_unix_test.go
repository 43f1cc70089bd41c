// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package bboltjournal

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// TestMovedAwayIsFenced: a leader whose file was moved away, and perhaps
// replaced by a backup that somebody else leads, acknowledges nothing more. A
// process that was paused meanwhile finds out as well.
func TestMovedAwayIsFenced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := prepared(t, dir, io.Discard)
	aside := filepath.Join(t.TempDir(), "aside.db")
	if err := os.Rename(w.j.Path(), aside); err != nil {
		t.Fatal(err)
	}
	next := prepared(t, dir, io.Discard)
	if err := w.append(t.Context(), 1); !errors.Is(err, journal.ErrFenced) {
		t.Fatalf("Append into the file that was moved away: %v; want fenced", err)
	}
	if err := next.append(t.Context(), 1); err != nil {
		t.Errorf("Append of the successor: %v", err)
	}
	// It may lead again, but only what is in the place of the journal.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := w.lead(ctx); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("Lead: %v; want in use", err)
	}
	next.j.Close()
	if err := w.lead(t.Context()); err != nil || w.last != next.last || w.epoch <= next.epoch {
		t.Errorf("Lead = epoch %d at %d, %v; want that of the successor, epoch %d at %d", w.epoch, w.last, err, next.epoch, next.last)
	}
}

// TestTakenAway: who has led a journal that is gone does not begin a new one.
func TestTakenAway(t *testing.T) {
	t.Parallel()
	w := prepared(t, t.TempDir(), io.Discard)
	if err := os.Remove(w.j.Path()); err != nil {
		t.Fatal(err)
	}
	if err := w.append(t.Context(), 1); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("Append: %v; want fenced", err)
	}
	if err := w.lead(t.Context()); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), w.j.Path()) {
		t.Errorf("Lead: %v; want that it is not there", err)
	}
	if _, err := os.Stat(w.j.Path()); err == nil {
		t.Error("a new journal was made")
	}
}
