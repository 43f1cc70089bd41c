// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package bboltjournal keeps a journal in one bbolt file. It is the journal of
// a coordinator on one machine.
//
// # Leadership
//
// The file is locked by the process that leads; the lock is the leadership. A
// paused leader keeps it, so nobody can supersede it on the same file; a leader
// whose file was moved away or replaced is refused after its next write. Lead
// itself writes nothing to the file: the epoch goes onto the disk together with
// the first thing that is written under it. Whoever finds that the journal says
// something that this program does not understand leaves it as it was.
//
// # Durability
//
// The file comes into being under its name complete or not at all. Every Append
// is one transaction of bbolt: its pages, a synchronisation, the header that
// makes them count, another synchronisation. So a crash at any moment leaves
// the transaction whole or invisible. When a write or a synchronisation fails
// it is not known which; the handle then answers journal.ErrUnknown until Lead
// has read the file anew. That is safe even though a failed synchronisation may
// have thrown written pages away: no header was written before all pages that
// it leads to were known to be on the disk.
//
// # Damage
//
// Before anything is written, Lead reads the whole file through a handle that
// cannot write: the structure of all pages, both headers, and the checksums of
// all records, of the snapshot and of the rest. A header fits into one sector
// of a disk, which is written whole or not at all; one that is no good is
// damage and no trace of a crash, and going back to the other one might lose
// what was acknowledged.
package bboltjournal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// FileName is the name of the journal's file in its folder.
const FileName = "journal.db"

// Journal is one handle of the file. Safe for concurrent use.
type Journal struct {
	path string
	// leading is held while a Lead opens the file or raises the epoch.
	leading chan struct{}
	// saving is held while a snapshot is being written.
	saving chan struct{}
	// failed is set once a write had an unknown outcome, until the file is
	// opened anew.
	failed atomic.Bool
	// chunkSize and trimPage are the constants of these names but in tests.
	chunkSize int
	trimPage  journal.Index
	// fault is called between the steps of what is written; nil but in tests.
	fault func(step) error

	mu     sync.RWMutex // guards the fields below; held shared during use
	db     *bbolt.DB
	info   os.FileInfo   // of the file that db has open
	epoch  journal.Epoch // of this handle's leadership; 0 before the first
	closed bool
}

var _ journal.Journal = (*Journal)(nil)

// Open prepares the journal in the folder dir, which is made with mode 0700
// when it is missing and refused when others may write to it. The file itself
// is opened, and made, by Lead.
func Open(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the journal's folder: %w", err)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	return &Journal{
		path:      filepath.Join(dir, FileName),
		leading:   make(chan struct{}, 1),
		saving:    make(chan struct{}, 1),
		chunkSize: chunkSize,
		trimPage:  trimPage,
	}, nil
}

// Path is the journal's file.
func (j *Journal) Path() string { return j.path }

// Lead waits until the file's lock is free, takes it, makes sure that the file
// is whole and that there is room to go on, and begins the next epoch.
// ErrInUse when ctx ends first; a DamageError, NewerError or StorageError where
// a person has to do something.
func (j *Journal) Lead(ctx context.Context) (journal.Epoch, error) {
	select {
	case j.leading <- struct{}{}:
		defer func() { <-j.leading }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := j.ensureOpen(ctx); err != nil {
		return 0, err
	}
	if err := j.probe(); err != nil {
		return 0, err
	}
	var stored journal.Epoch
	err := j.view(ctx, func(tx *bbolt.Tx) error {
		stored = journal.Epoch(getUint(tx.Bucket(bucketMeta), keyEpoch))
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("lead the journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.epoch = max(stored, j.epoch) + 1
	return j.epoch, nil
}

// ensureOpen opens the file for writing unless this handle has it already, and
// opens it anew when that failed.
func (j *Journal) ensureOpen(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	if j.db != nil && !j.failed.Load() {
		return nil
	}
	if j.db != nil {
		_ = guarded(j.path, j.db.Close) // it has failed already
		j.db = nil
	}
	return j.reopen(ctx)
}

// reopen is called without a file. The lock is let go while it waits, so that
// Close and readers are not held up.
func (j *Journal) reopen(ctx context.Context) error {
	led := j.epoch > 0
	j.mu.Unlock()
	db, info, err := j.waitOpen(ctx, !led)
	j.mu.Lock()
	if err != nil {
		return err
	}
	if j.closed {
		return errors.Join(journal.ErrClosed, db.Close())
	}
	j.db, j.info = db, info
	j.failed.Store(false)
	return nil
}

// view runs f in a read transaction. f must be quick: a long read keeps the
// file from growing.
func (j *Journal) view(ctx context.Context, f func(*bbolt.Tx) error) error {
	return j.use(ctx, func(db *bbolt.DB) error { return db.View(f) })
}

// use runs f with the open file.
func (j *Journal) use(ctx context.Context, f func(*bbolt.DB) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	switch {
	case j.closed:
		return journal.ErrClosed
	case j.db == nil:
		return fmt.Errorf("%s is not open: lead the journal first: %w", j.path, os.ErrClosed)
	case j.failed.Load():
		return fmt.Errorf("%s: an earlier write failed: lead the journal anew: %w", j.path, journal.ErrUnknown)
	}
	return guarded(j.path, func() error { return f(j.db) })
}

// Capabilities says that acknowledged records survive a crash. A paused leader
// still holds the file's lock, so nobody can supersede it.
func (j *Journal) Capabilities() journal.Capabilities {
	return journal.Capabilities{Durable: true}
}

// Close waits for what is under way and releases the file with its lock.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if j.db == nil {
		return nil
	}
	if err := guarded(j.path, j.db.Close); err != nil {
		return fmt.Errorf("close %s: %w", j.path, err)
	}
	return nil
}
