// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package memjournal keeps a journal in memory. It serves tests and
// simulations: a [Store] outlives its handles, as a file outlives processes,
// so that take-over and fencing can be exercised without a disk.
package memjournal

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// Store is what the handles share. Safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	secret  []byte
	epoch   journal.Epoch
	trimmed journal.Index
	records []journal.Record // from trimmed+1 on

	snapshotAt journal.Index
	snapshot   []byte
	saved      bool

	breaks  bool // the next write fails
	written bool // and is there all the same
}

// Break makes the next write of any handle fail with journal.ErrUnknown, after
// it was written or instead of that, as a failing disk would.
func (s *Store) Break(written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks, s.written = true, written
}

// NewStore returns an empty store.
func NewStore() *Store {
	secret := make([]byte, journal.SecretSize)
	rand.Read(secret)
	return &Store{secret: secret}
}

// Open returns another handle of the store.
func (s *Store) Open() *Journal { return &Journal{store: s} }

// New returns the only handle of a new store.
func New() *Journal { return NewStore().Open() }

// Journal is one handle of a Store. A second handle that leads fences the
// first at once; nobody waits.
type Journal struct {
	store  *Store
	closed bool // guarded by store.mu
	// failed is set once a write had an unknown outcome, until Lead; guarded
	// by store.mu.
	failed bool
}

var _ journal.Journal = (*Journal)(nil)

// enter locks the store; the caller unlocks it when there was no error.
func (j *Journal) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.store.mu.Lock()
	err := error(nil)
	if j.closed {
		err = journal.ErrClosed
	} else if j.failed {
		err = journal.ErrUnknown
	}
	if err != nil {
		j.store.mu.Unlock()
	}
	return err
}

// write runs f, unless the write is to fail; the store is locked.
func (j *Journal) write(f func()) error {
	fails, written := j.store.breaks, j.store.written
	j.store.breaks = false
	if !fails || written {
		f()
	}
	if fails {
		j.failed = true
		return journal.ErrUnknown
	}
	return nil
}

// last is the index of the last record; the store is locked.
func (s *Store) last() journal.Index {
	return s.trimmed + journal.Index(len(s.records))
}

// Lead fences every earlier leader and returns at once.
func (j *Journal) Lead(ctx context.Context) (journal.Epoch, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.store.mu.Lock()
	defer j.store.mu.Unlock()
	if j.closed {
		return 0, journal.ErrClosed
	}
	j.failed = false
	j.store.epoch++
	return j.store.epoch, nil
}

// Append writes a batch behind the record at after.
func (j *Journal) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	if err := j.enter(ctx); err != nil {
		return 0, err
	}
	defer j.store.mu.Unlock()
	s := j.store
	if epoch != s.epoch {
		return 0, fmt.Errorf("epoch %d, the store is at %d: %w", epoch, s.epoch, journal.ErrFenced)
	}
	if after != s.last() {
		return 0, fmt.Errorf("behind %d, the last record is %d: %w", after, s.last(), journal.ErrGap)
	}
	err := j.write(func() {
		for _, data := range batch {
			s.records = append(s.records, journal.Record{Index: s.last() + 1, Epoch: epoch, Data: bytes.Clone(data)})
		}
	})
	if err != nil {
		return 0, fmt.Errorf("append behind record %d: %w", after, err)
	}
	return s.last(), nil
}

// Read yields the records from index from on.
func (j *Journal) Read(ctx context.Context, from journal.Index) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		records, err := j.tail(ctx, from)
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				yield(journal.Record{}, err)
				return
			}
			r.Data = bytes.Clone(r.Data)
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (j *Journal) tail(ctx context.Context, from journal.Index) ([]journal.Record, error) {
	if err := j.enter(ctx); err != nil {
		return nil, err
	}
	defer j.store.mu.Unlock()
	s := j.store
	from = max(from, 1)
	if from <= s.trimmed {
		return nil, fmt.Errorf("record %d: %w", from, journal.ErrCompacted)
	}
	if from > s.last() {
		return nil, nil
	}
	return slices.Clone(s.records[from-s.trimmed-1:]), nil
}

// Last is the index of the last record.
func (j *Journal) Last(ctx context.Context) (journal.Index, error) {
	if err := j.enter(ctx); err != nil {
		return 0, err
	}
	defer j.store.mu.Unlock()
	return j.store.last(), nil
}

// SaveSnapshot stores a snapshot unless a newer one is there.
func (j *Journal) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	data, err := io.ReadAll(state)
	if err != nil {
		return fmt.Errorf("read the snapshot at %d: %w", at, err)
	}
	if err := j.enter(ctx); err != nil {
		return err
	}
	defer j.store.mu.Unlock()
	s := j.store
	switch {
	case epoch != s.epoch:
		return fmt.Errorf("snapshot at %d: %w", at, journal.ErrFenced)
	case at > s.last():
		return fmt.Errorf("snapshot at %d, the last record is %d: %w", at, s.last(), journal.ErrGap)
	case s.saved && at < s.snapshotAt:
		return nil
	}
	return j.write(func() { s.snapshotAt, s.snapshot, s.saved = at, data, true })
}

// LoadSnapshot returns the newest snapshot.
func (j *Journal) LoadSnapshot(ctx context.Context) (journal.Index, io.ReadCloser, error) {
	if err := j.enter(ctx); err != nil {
		return 0, nil, err
	}
	defer j.store.mu.Unlock()
	if !j.store.saved {
		return 0, nil, journal.ErrNoSnapshot
	}
	return j.store.snapshotAt, io.NopCloser(bytes.NewReader(j.store.snapshot)), nil
}

// Trim forgets records that the snapshot covers.
func (j *Journal) Trim(ctx context.Context, epoch journal.Epoch, to journal.Index) error {
	if err := j.enter(ctx); err != nil {
		return err
	}
	defer j.store.mu.Unlock()
	s := j.store
	if epoch != s.epoch {
		return fmt.Errorf("trim to %d: %w", to, journal.ErrFenced)
	}
	to = min(to, s.snapshotAt)
	if to > s.trimmed {
		s.records = slices.Clone(s.records[to-s.trimmed:])
		s.trimmed = to
	}
	return nil
}

// Secret returns the store's random bytes.
func (j *Journal) Secret(ctx context.Context) ([]byte, error) {
	if err := j.enter(ctx); err != nil {
		return nil, err
	}
	defer j.store.mu.Unlock()
	return bytes.Clone(j.store.secret), nil
}

// Capabilities says that a superseded handle is always refused, and that
// nothing survives the process.
func (j *Journal) Capabilities() journal.Capabilities {
	return journal.Capabilities{FencesPaused: true}
}

// Close ends the handle; the store stays.
func (j *Journal) Close() error {
	j.store.mu.Lock()
	defer j.store.mu.Unlock()
	j.closed = true
	return nil
}
