// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"context"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// step is a moment between two things that are written, at which a process may
// end. Its text names it in tests.
type step string

// The steps. What happens inside a commit is bbolt's.
const (
	stepDecided    step = "decided"         // a transaction is complete in memory
	stepCommitted  step = "committed"       // it is on the disk, nobody knows yet
	stepTemporary  step = "temporary"       // a new file has a temporary name and no content
	stepLaidOut    step = "laid out"        // it has its content
	stepNamed      step = "named"           // it has its name
	stepFolderSafe step = "folder synced"   // the name is on the disk
	stepChunks     step = "chunks saved"    // a snapshot is complete and has no manifest
	stepChunk      step = "chunk saved"     // a snapshot is incomplete
	stepTrimmed    step = "trimmed a part"  // some of the records are forgotten
	stepLeading    step = "about to lead"   // the file is open and locked
	stepSwept      step = "leftovers swept" // what earlier crashes left is gone
)

// reach tells whoever tests that a step was reached.
func (j *Journal) reach(s step) error {
	if j.fault == nil {
		return nil
	}
	return j.fault(s)
}

// update runs f in a transaction of epoch that is on the disk when update
// returns. When f fails nothing was written. When writing fails the outcome is
// unknown, and so the error is journal.ErrUnknown.
func (j *Journal) update(ctx context.Context, epoch journal.Epoch, f func(*bbolt.Tx) error) error {
	return j.use(ctx, func(db *bbolt.DB) error {
		tx, err := db.Begin(true)
		if err != nil {
			return err
		}
		defer func() {
			if tx.DB() != nil { // f or the commit panicked
				j.failed.Store(true)
				_ = tx.Rollback()
			}
		}()
		if err := j.decide(tx, epoch, f); err != nil {
			_ = tx.Rollback()
			return err
		}
		if err := j.commit(tx); err != nil {
			j.failed.Store(true)
			return fmt.Errorf("%w: %w", journal.ErrUnknown, storageError(j.path, err))
		}
		return j.inPlace()
	})
}

// decide fills the transaction.
func (j *Journal) decide(tx *bbolt.Tx, epoch journal.Epoch, f func(*bbolt.Tx) error) error {
	if err := j.claim(tx, epoch); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return seal(tx)
}

// claim refuses every epoch but that of this handle's leadership, and puts that
// on record. The handle's lock is held shared.
func (j *Journal) claim(tx *bbolt.Tx, epoch journal.Epoch) error {
	stored := journal.Epoch(getUint(tx.Bucket(bucketMeta), keyEpoch))
	if newest := max(stored, j.epoch); epoch != newest || epoch != j.epoch {
		return fmt.Errorf("epoch %d, the journal is at %d: %w", epoch, newest, journal.ErrFenced)
	}
	if stored == epoch {
		return nil
	}
	return putUint(tx.Bucket(bucketMeta), keyEpoch, uint64(epoch))
}

func (j *Journal) commit(tx *bbolt.Tx) error {
	if err := j.reach(stepDecided); err != nil {
		_ = tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return j.reach(stepCommitted)
}

// inPlace refuses to acknowledge what went into a file that is not the journal
// any more: whoever put another in its place may lead that.
func (j *Journal) inPlace() error {
	now, err := os.Stat(j.path)
	if err == nil && os.SameFile(now, j.info) {
		return nil
	}
	j.failed.Store(true)
	return fmt.Errorf("%s was moved away or replaced while it was in use: %w", j.path, journal.ErrFenced)
}
