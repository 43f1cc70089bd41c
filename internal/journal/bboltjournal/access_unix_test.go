// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package bboltjournal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal/journaltest"
)

// TestFileOfOthers: a file that others could read or replace is not used, and
// not corrected in silence either.
func TestFileOfOthers(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o606, 0o660} {
		dir := t.TempDir()
		w := prepared(t, dir, io.Discard)
		w.j.Close()
		if err := os.Chmod(w.j.Path(), mode); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, w.j.Path())
		j := open(t, dir)
		_, err := j.Lead(t.Context())
		j.Close()
		var storage *StorageError
		if !errors.As(err, &storage) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "chmod 600") || !strings.Contains(err.Error(), w.j.Path()) {
			t.Errorf("mode %o: %v; want the remedy", mode, err)
		}
		if info, err := os.Stat(w.j.Path()); err != nil || info.Mode().Perm() != mode || fingerprint(t, w.j.Path()) != before {
			t.Errorf("the file was changed (%v)", err)
		}
	}
}

// TestReadOnlyFile: a file that can be read and not written cannot be led.
func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := prepared(t, dir, io.Discard)
	w.j.Close()
	if err := os.Chmod(w.j.Path(), 0o400); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, w.j.Path())
	j := open(t, dir)
	defer j.Close()
	var err error
	journaltest.Ordinary(t, func() { _, err = j.Lead(t.Context()) })
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "must be yours") || !strings.Contains(err.Error(), w.j.Path()) {
		t.Errorf("Lead: %v; want the remedy", err)
	}
	if fingerprint(t, w.j.Path()) != before {
		t.Error("the file was changed")
	}
}

// TestReadOnlyFolder: neither a new journal nor an old one can be led in a
// folder that takes no files.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	for _, fresh := range []bool{true, false} {
		dir := t.TempDir()
		if !fresh {
			prepared(t, dir, io.Discard).j.Close()
		}
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		j := open(t, dir)
		var err error
		journaltest.Ordinary(t, func() { _, err = j.Lead(t.Context()) })
		j.Close()
		var storage *StorageError
		if !errors.As(err, &storage) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "must be yours") {
			t.Errorf("fresh %v: %v; want the remedy", fresh, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil { // for the clean-up
			t.Fatal(err)
		}
	}
}
