// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// Format is the version of the file's layout. It rises only when an older
// program could not read the file any more, and never by merely opening it.
//
//	meta       format, epoch, trimmed: big-endian uint64; secret: random bytes;
//	           manifest: the newest complete snapshot, as JSON
//	records    index (big-endian uint64) -> epoch, CRC-32C, data
//	snapshots  snapshot id, chunk number -> data
const Format = 1

// bbolt wants byte slices as keys; these are never written to.
var (
	bucketMeta      = []byte("meta")
	bucketRecords   = []byte("records")
	bucketSnapshots = []byte("snapshots")

	keyFormat   = []byte("format")
	keyEpoch    = []byte("epoch")
	keyTrimmed  = []byte("trimmed")
	keySecret   = []byte("secret")
	keyManifest = []byte("manifest")
)

// openFile opens the file and checks, before anything is written, that this
// program understands it. A new file gets its layout.
func openFile(path string) (*bbolt.DB, error) {
	var (
		db   *bbolt.DB
		file *os.File
	)
	err := guarded(path, func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      lockWait,
			FreelistType: bbolt.FreelistMapType,
			OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
				file, err = os.OpenFile(name, flag, perm)
				return file, err
			},
		})
		return err
	})
	if err != nil {
		if file != nil {
			file.Close() // bbolt does not when it panics; the lock goes with it
		}
		return nil, describe(path, err)
	}
	if err := guarded(path, func() error { return prepare(db) }); err != nil {
		return nil, describe(path, errors.Join(err, db.Close()))
	}
	return db, nil
}

// describe adds the remedy to the errors that a person has to act on.
func describe(path string, err error) error {
	var (
		damage *DamageError
		system *fs.PathError
	)
	switch {
	case errors.As(err, &damage), errors.As(err, &system): // they name the file
		return err
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrChecksum),
		errors.Is(err, bbolterrors.ErrVersionMismatch), errors.Is(err, journal.ErrCorrupt):
		return &DamageError{Path: path, Err: err}
	case errors.Is(err, journal.ErrNewer):
		return fmt.Errorf("%s: %w: nothing was changed; install that version of tfweaver, or use another state folder", path, err)
	default:
		return fmt.Errorf("open %s: %w", path, err)
	}
}

// prepare checks the layout of an opened file and makes it in a new one.
func prepare(db *bbolt.DB) error {
	fresh := false
	err := db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			name, _ := tx.Cursor().First()
			fresh = name == nil
			if !fresh {
				return fmt.Errorf("%w: it is no journal of tfweaver", journal.ErrCorrupt)
			}
			return nil
		}
		return checkLayout(tx, meta)
	})
	if err != nil || !fresh {
		return err
	}
	if err := db.Update(layOut); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(db.Path()))
}

// checkLayout refuses what a newer program wrote, and what is incomplete.
func checkLayout(tx *bbolt.Tx, meta *bbolt.Bucket) error {
	format := getUint(meta, keyFormat)
	if format > Format {
		return fmt.Errorf("%w (format %d, this version knows up to %d)", journal.ErrNewer, format, Format)
	}
	if format == 0 || len(meta.Get(keySecret)) != journal.SecretSize ||
		tx.Bucket(bucketRecords) == nil || tx.Bucket(bucketSnapshots) == nil {
		return fmt.Errorf("%w: a part of it is missing", journal.ErrCorrupt)
	}
	return nil
}

// layOut makes the buckets of a new file and draws its secret.
func layOut(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketRecords, bucketSnapshots} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	secret := make([]byte, journal.SecretSize)
	rand.Read(secret)
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(keySecret, secret); err != nil {
		return err
	}
	return putUint(meta, keyFormat, Format)
}

// guarded turns a panic over a damaged file, and the fault of a mapped page
// that the file does not have, into a DamageError.
func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &DamageError{Path: path, Err: unreadable(r)}
		}
	}()
	return f()
}

// errUnreadable: the file's structure leads nowhere.
var errUnreadable = errors.New("a part of it cannot be read")

// unreadable is what a panic means. What the run time says of a fault tells
// people nothing.
func unreadable(panicked any) error {
	if _, ok := panicked.(runtime.Error); ok {
		return errUnreadable
	}
	return fmt.Errorf("%w: %v", errUnreadable, panicked)
}

// raiseEpoch begins the next leadership.
func raiseEpoch(tx *bbolt.Tx) (journal.Epoch, error) {
	meta := tx.Bucket(bucketMeta)
	epoch := getUint(meta, keyEpoch) + 1
	return journal.Epoch(epoch), putUint(meta, keyEpoch, epoch)
}

// checkEpoch refuses every leader but the newest.
func checkEpoch(tx *bbolt.Tx, epoch journal.Epoch) error {
	newest := journal.Epoch(getUint(tx.Bucket(bucketMeta), keyEpoch))
	if epoch != newest {
		return fmt.Errorf("epoch %d, the journal is at %d: %w", epoch, newest, journal.ErrFenced)
	}
	return nil
}

// Secret returns the random bytes that were drawn with the file.
func (j *Journal) Secret(ctx context.Context) ([]byte, error) {
	var secret []byte
	err := j.view(ctx, func(tx *bbolt.Tx) error {
		secret = bytes.Clone(tx.Bucket(bucketMeta).Get(keySecret))
		return nil
	})
	return secret, err
}

// getUint reads a number; a missing one is 0.
func getUint(b *bbolt.Bucket, key []byte) uint64 {
	v := b.Get(key)
	if len(v) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

func putUint(b *bbolt.Bucket, key []byte, v uint64) error {
	return b.Put(key, binary.BigEndian.AppendUint64(nil, v))
}
