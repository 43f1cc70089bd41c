// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// errFull is what a full disk says: nothing was written, which the caller of a
// journal must not rely on.
var errFull = errors.New("no space left on device")

// errBadBlock is a read that fails.
var errBadBlock = errors.New("the block cannot be read")

// disk is one handle of the journal, with trouble of its own. It keeps the ledger.
type disk struct {
	journal.Journal
	w *World
	// failed is set after an unknown outcome, until the next Lead.
	failed bool
}

var _ journal.Journal = (*disk)(nil)

// Lead makes the handle usable again.
func (d *disk) Lead(ctx context.Context) (journal.Epoch, error) {
	d.failed = false
	return d.Journal.Lead(ctx)
}

// Append writes a batch, or fails in one of the ways of a disk.
func (d *disk) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	switch {
	case d.failed:
		return 0, journal.ErrUnknown
	case d.w.full:
		d.w.count(JournalFull)
		return 0, errFull
	case d.w.strikes(JournalLost):
		d.failed = true
		return 0, journal.ErrUnknown
	}
	last, err := d.write(ctx, epoch, after, batch)
	if err == nil && d.w.strikes(JournalWritten) {
		d.failed = true
		return 0, journal.ErrUnknown
	}
	return last, err
}

// write appends a batch to the journal and to the ledger.
func (d *disk) write(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	last, err := d.Journal.Append(ctx, epoch, after, batch)
	switch {
	case errors.Is(err, journal.ErrFenced):
		d.w.count(JournalFenced)
		return 0, err
	case err != nil:
		d.w.fail("the journal failed by itself: %v", err)
		return 0, err
	}
	if err := d.w.ledger.add(epoch, batch); err != nil {
		d.w.fail("%v", err)
	}
	if last != d.w.ledger.last() {
		d.w.fail("the journal says that its last record is %d, after %d", last, d.w.ledger.last())
	}
	return last, nil
}

// Read yields the records, as far as they can be read.
func (d *disk) Read(ctx context.Context, from journal.Index) iter.Seq2[journal.Record, error] {
	if d.w.strikes(JournalUnread) {
		return func(yield func(journal.Record, error) bool) {
			yield(journal.Record{}, fmt.Errorf("record %d: %w", from, errBadBlock))
		}
	}
	return d.Journal.Read(ctx, from)
}

// SaveSnapshot saves a snapshot, or does not.
func (d *disk) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	if d.w.strikes(SnapshotUnsaved) {
		return errFull
	}
	return d.Journal.SaveSnapshot(ctx, epoch, at, state)
}
