// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/journal/journaltest"
)

// TestReadOnlyFolder: nothing can be started there, and people are told where
// to go.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	if err := os.MkdirAll(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	var err error
	journaltest.Ordinary(t, func() { _, err = embedded.Connect(within(t), options(dir, "1m")) })
	if err == nil || !strings.Contains(err.Error(), "cannot be written by you") || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Fatalf("Connect: %v; want the folder and the remedy", err)
	}
	wantPlain(t, err)
}

// TestJournalOfOthers: what the started process says of the file reaches the
// user.
func TestJournalOfOthers(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	j, err := bboltjournal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if err := os.Chmod(filepath.Join(dir, bboltjournal.FileName), 0o666); err != nil {
		t.Fatal(err)
	}
	wantLeftAlone(t, dir, "others can use it", "chmod 600")
}
