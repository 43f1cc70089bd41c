// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// verify reads everything in the file and compares it with what it should be.
func verify(db *bbolt.DB, file *os.File) error {
	h, err := newestHeader(file)
	if err != nil {
		return err
	}
	if err := checkPages(file, h); err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		if err := checkLayout(tx); err != nil {
			return err
		}
		return errors.Join(checkRecords(tx), checkSnapshot(tx))
	})
}

// checkRecords: every record from the first that was not trimmed to the last
// is there, whole, and of an epoch that has been.
func checkRecords(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	epoch, next := journal.Epoch(0), trimmed(tx)+1
	c := tx.Bucket(bucketRecords).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		r, err := decode(k, v)
		if err != nil {
			return err
		}
		if r.Index != next {
			return missing(next)
		}
		if r.Epoch < epoch {
			return fmt.Errorf("%w: record %d is of an earlier epoch than the one before", journal.ErrCorrupt, r.Index)
		}
		epoch = r.Epoch
		next++
	}
	if next <= lastIndex(tx) {
		return missing(next)
	}
	if next > lastIndex(tx)+1 || uint64(epoch) > getUint(meta, keyEpoch) {
		return fmt.Errorf("%w: it has records that it does not know of", journal.ErrCorrupt)
	}
	return nil
}

func missing(i journal.Index) error {
	return fmt.Errorf("%w: record %d is missing", journal.ErrCorrupt, i)
}

// checkSnapshot: the snapshot is whole, and reaches what was trimmed.
func checkSnapshot(tx *bbolt.Tx) error {
	m, err := loadManifest(tx)
	if errors.Is(err, journal.ErrNoSnapshot) {
		if done := trimmed(tx); done > 0 {
			return fmt.Errorf("%w: the snapshot of the first %d records is missing", journal.ErrCorrupt, done)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if m.At < trimmed(tx) || m.At > lastIndex(tx) {
		return fmt.Errorf("%w: the snapshot at %d does not fit the records", journal.ErrCorrupt, m.At)
	}
	sum := sha256.New()
	for n := range m.Chunks {
		sum.Write(tx.Bucket(bucketSnapshots).Get(chunkKey(m.ID, n)))
	}
	if !bytes.Equal(sum.Sum(nil), m.Sum) {
		return fmt.Errorf("%w: the checksum of the snapshot at %d is wrong", journal.ErrCorrupt, m.At)
	}
	return nil
}
