// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package bboltjournal keeps a journal in one bbolt file. It is the journal of
// a coordinator on one machine.
//
// The file is locked by the process that leads; the lock is the leadership.
// Every Append is one transaction that is on the disk when it returns. Nothing
// is opened before it is needed, and a file that cannot be understood is left
// as it is.
package bboltjournal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// FileName is the name of the journal's file in its folder.
const FileName = "journal.db"

// lockWait is how long one attempt waits for the file's lock before it looks
// at the context again. bbolt itself tries every 50 ms.
const lockWait = 60 * time.Millisecond

// Journal is one handle of the file. Safe for concurrent use.
type Journal struct {
	path string
	// leading is held while a Lead opens the file or raises the epoch.
	leading chan struct{}
	// saving is held while a snapshot is being written.
	saving chan struct{}

	mu     sync.RWMutex // guards the fields below; held shared during use
	db     *bbolt.DB
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
		path:    filepath.Join(dir, FileName),
		leading: make(chan struct{}, 1),
		saving:  make(chan struct{}, 1),
	}, nil
}

// Path is the journal's file.
func (j *Journal) Path() string { return j.path }

// Lead waits until the file's lock is free, takes it, and raises the epoch.
// ErrInUse when ctx ends first.
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
	var epoch journal.Epoch
	err := j.update(ctx, func(tx *bbolt.Tx) error {
		var err error
		epoch, err = raiseEpoch(tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("lead the journal: %w", err)
	}
	return epoch, nil
}

// ensureOpen opens the file for writing unless this handle has it already.
func (j *Journal) ensureOpen(ctx context.Context) error {
	j.mu.RLock()
	open, closed := j.db != nil, j.closed
	j.mu.RUnlock()
	if closed {
		return journal.ErrClosed
	}
	if open {
		return nil
	}
	db, err := j.waitOpen(ctx)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errors.Join(journal.ErrClosed, db.Close())
	}
	j.db = db
	return nil
}

// waitOpen opens the file as soon as its lock is free.
func (j *Journal) waitOpen(ctx context.Context) (*bbolt.DB, error) {
	for {
		db, err := openFile(j.path)
		if !errors.Is(err, bbolterrors.ErrTimeout) {
			return db, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", j.path, journal.ErrInUse)
		}
	}
}

// update runs f in a transaction that is on the disk when update returns.
func (j *Journal) update(ctx context.Context, f func(*bbolt.Tx) error) error {
	return j.use(ctx, func(db *bbolt.DB) error { return db.Update(f) })
}

// view runs f in a read transaction. f must be quick: a long read keeps the
// file from growing.
func (j *Journal) view(ctx context.Context, f func(*bbolt.Tx) error) error {
	return j.use(ctx, func(db *bbolt.DB) error { return db.View(f) })
}

func (j *Journal) use(ctx context.Context, f func(*bbolt.DB) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return journal.ErrClosed
	}
	if j.db == nil {
		return fmt.Errorf("%s is not open: lead the journal first: %w", j.path, fs.ErrClosed)
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
	if err := j.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", j.path, err)
	}
	return nil
}
