// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/journaltest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) journaltest.Store {
		dir := filepath.Join(t.TempDir(), "state")
		path := filepath.Join(dir, FileName)
		return journaltest.Store{
			Open:  func(t *testing.T) journal.Journal { return open(t, dir) },
			Break: breakNext,
			Durable: &journaltest.Durable{
				Damage: map[string]func(*testing.T){
					"NoJournal":       func(t *testing.T) { write(t, path, bytes.Repeat([]byte("not a journal. "), 4096)) },
					"CutOff":          func(t *testing.T) { truncate(t, path, 3*int64(os.Getpagesize())) },
					"OtherProgram":    func(t *testing.T) { foreign(t, path) },
					"RecordChanged":   func(t *testing.T) { edit(t, path, changeRecord) },
					"RecordMissing":   func(t *testing.T) { edit(t, path, dropRecord) },
					"LastMissing":     func(t *testing.T) { edit(t, path, dropLast) },
					"SecretMissing":   func(t *testing.T) { edit(t, path, dropSecret) },
					"SecretChanged":   func(t *testing.T) { edit(t, path, changeSecret) },
					"EpochChanged":    func(t *testing.T) { edit(t, path, changeEpoch) },
					"SnapshotTorn":    func(t *testing.T) { edit(t, path, dropChunk) },
					"SnapshotChanged": func(t *testing.T) { edit(t, path, changeChunk) },
					"ManifestMissing": func(t *testing.T) { edit(t, path, dropManifest) },
					"Empty":           func(t *testing.T) { write(t, path, nil) },
					"OverwrittenPage": func(t *testing.T) { overwrite(t, path) },
				},
				MakeNewer: func(t *testing.T) {
					edit(t, path, func(tx *bbolt.Tx) error { return putUint(tx.Bucket(bucketMeta), keyFormat, Format+1) })
				},
				Fingerprint: func(t *testing.T) string { return fingerprint(t, path) },
			},
		}
	})
}

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return j
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// overwrite spoils every page behind the two meta pages.
func overwrite(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * os.Getpagesize(); i < len(data); i++ {
		data[i] = 0xa5
	}
	write(t, path, data)
}

// edit changes the file behind the journal's back.
func edit(t *testing.T, path string, f func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(f), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("somebody else's"))
		return err
	})
}

func changeRecord(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketRecords)
	v := bytes.Clone(b.Get(indexKey(7)))
	v[len(v)-1] ^= 1
	return b.Put(indexKey(7), v)
}

func dropRecord(tx *bbolt.Tx) error { return tx.Bucket(bucketRecords).Delete(indexKey(7)) }

func dropLast(tx *bbolt.Tx) error { return tx.Bucket(bucketRecords).Delete(indexKey(20)) }

func changeSecret(tx *bbolt.Tx) error {
	return tx.Bucket(bucketMeta).Put(keySecret, make([]byte, journal.SecretSize))
}

// changeEpoch would give an epoch away twice.
func changeEpoch(tx *bbolt.Tx) error { return putUint(tx.Bucket(bucketMeta), keyEpoch, 7) }

func dropChunk(tx *bbolt.Tx) error {
	k, _ := tx.Bucket(bucketSnapshots).Cursor().Last()
	return tx.Bucket(bucketSnapshots).Delete(k)
}

func changeChunk(tx *bbolt.Tx) error {
	k, _ := tx.Bucket(bucketSnapshots).Cursor().Last()
	return tx.Bucket(bucketSnapshots).Put(k, []byte("eleven"))
}

func dropManifest(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyManifest) }

// breakNext lets the next commit fail before it is written, or behind that.
func breakNext(t *testing.T, j journal.Journal, written bool) {
	at := stepDecided
	if written {
		at = stepCommitted
	}
	b, ok := j.(*Journal)
	if !ok {
		t.Fatalf("a %T", j)
	}
	b.fault = func(s step) error {
		if s != at {
			return nil
		}
		at = ""
		return syscall.EIO
	}
}

func dropSecret(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keySecret) }

func fingerprint(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestErrorsNameTheRemedy: whoever reads the error can act on it.
func TestErrorsNameTheRemedy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spoil func(*testing.T, string)
		want  string
	}{
		"newer": {func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return putUint(tx.Bucket(bucketMeta), keyFormat, 99) })
		}, "install that version of tfweaver"},
		"cut off":     {func(t *testing.T, path string) { truncate(t, path, 3*int64(os.Getpagesize())) }, "restore the file from a backup"},
		"overwritten": {overwrite, "restore the file from a backup"},
		"damaged":     {func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("x"), 1<<16)) }, "restore the file from a backup"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir)
			if _, err := j.Lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			j.Close()
			c.spoil(t, j.Path())
			again := open(t, dir)
			defer again.Close()
			_, err := again.Lead(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), j.Path()) {
				t.Fatalf("Lead: %v; want the path and %q", err, c.want)
			}
			for _, bad := range []string{"runtime error", "nil pointer", "unexpected fault"} {
				if strings.Contains(err.Error(), bad) {
					t.Errorf("Lead: %v", err)
				}
			}
			if strings.Count(err.Error(), j.Path()) != 1 || strings.Count(err.Error(), journal.ErrCorrupt.Error()) > 1 {
				t.Errorf("it says things twice: %v", err)
			}
		})
	}
}

// TestPrivate: nobody else can read or replace the journal.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("permission bits say nothing here")
		return
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	j := open(t, dir)
	defer j.Close()
	if _, err := j.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, j.Path(): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(shared); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("Open in a folder that others can write: %v", err)
	}
	// Everybody's folder must stay so.
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(shared); err == nil || strings.Contains(err.Error(), "chmod") || !strings.Contains(err.Error(), "of your own") {
		t.Errorf("Open in everybody's folder: %v", err)
	}
}

// TestLeadHandsOver: a waiting Lead gets the journal once it is free.
func TestLeadHandsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := open(t, dir), open(t, dir)
	defer second.Close()
	if _, err := first.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := second.Lead(ctx)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("the second Lead did not wait: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the second Lead: %v", err)
	}
}

// TestCrashBeforeTheManifest: chunks without a manifest are invisible, and go
// with the next snapshot.
func TestCrashBeforeTheManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	epoch, err := j.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.saveChunk(t.Context(), epoch, &manifest{ID: 77}, []byte("half")); err != nil {
		t.Fatal(err)
	}
	j.Close()

	again := open(t, dir)
	defer again.Close()
	if epoch, err = again.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.LoadSnapshot(t.Context()); !errors.Is(err, journal.ErrNoSnapshot) {
		t.Fatalf("LoadSnapshot: %v; want no snapshot", err)
	}
	if err := again.SaveSnapshot(t.Context(), epoch, 0, strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	err = again.view(t.Context(), func(tx *bbolt.Tx) error {
		if n := tx.Bucket(bucketSnapshots).Stats().KeyN; n != 1 {
			t.Errorf("%d chunks are left; want 1", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
