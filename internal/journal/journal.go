// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package journal is where the coordinator remembers: an append-only sequence
// of records, fenced by epochs, with snapshots. A record is opaque here; it
// holds a command and the decisions about it, so the journal is also the
// audit trail.
//
// # Formats
//
// Three things carry a format number: a store's layout, a record and a snapshot
// of the state; the latter two belong to who writes them. A format rises only
// when an older program would misread what a newer one writes. What an older
// program refuses anyway needs no new number: fields and kinds that it does not
// know are refused (it must not go on with half of a decision), so a new field
// stops older programs from the first record on that has it. That is why a
// field that is empty is not written, and why one is added only where its
// absence means what was meant before. Opening a store never raises a format,
// and never lowers one. Before the first release everything is format 1, and
// stores of earlier builds are not kept readable.
//
// A program that finds something newer or damaged leaves the store as it was,
// to the last byte: Lead decides who leads, and what it finds there is read
// before anything is written.
//
// Implementations live in sub-packages named after what they keep the records
// in, and all pass the suite of package journaltest.
package journal

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Index is the position of a record; the first record has index 1.
type Index uint64

// Epoch numbers the leaders of a journal. It grows strictly with each Lead of
// one handle, and from each leader that has written to the next one: Lead
// itself need not leave anything behind.
type Epoch uint64

// Record is one entry.
type Record struct {
	Index Index
	Epoch Epoch
	Data  []byte
}

// SecretSize is the length of a journal's secret in bytes.
const SecretSize = 32

// Capabilities says what an implementation can do beyond the contract.
type Capabilities struct {
	// Follow: Read with follow delivers records as they are appended.
	Follow bool
	// FencesPaused: a leader that was paused and superseded is refused even
	// when it never noticed.
	FencesPaused bool
	// Durable: an acknowledged record survives a crash of the machine.
	Durable bool
}

// Journal is the contract. All methods may be called concurrently, but only
// one leader appends at a time.
type Journal interface {
	// Lead waits until this process may lead, and fences every earlier epoch.
	Lead(ctx context.Context) (Epoch, error)
	// Append writes the batch behind the record at index after, all or
	// nothing, and returns the index of its last record. ErrFenced when a
	// later epoch exists, ErrGap when after is not the last index. Any other
	// error, ErrUnknown above all, leaves the outcome unknown: the caller must
	// step down and lead again, never guess.
	Append(ctx context.Context, epoch Epoch, after Index, batch [][]byte) (Index, error)
	// Read yields the records from index from on, and ends behind the last
	// one. ErrCompacted when from was trimmed.
	Read(ctx context.Context, from Index) iter.Seq2[Record, error]
	// Last is the index of the last record, 0 when there is none.
	Last(ctx context.Context) (Index, error)
	// SaveSnapshot stores the state as it was behind the record at. The
	// snapshot becomes visible only when it is complete.
	SaveSnapshot(ctx context.Context, epoch Epoch, at Index, state io.Reader) error
	// LoadSnapshot returns the newest complete snapshot; ErrNoSnapshot when
	// there is none. The caller closes the reader.
	LoadSnapshot(ctx context.Context) (Index, io.ReadCloser, error)
	// Trim forgets the records up to and including to; it never forgets a
	// record that the newest snapshot does not cover.
	Trim(ctx context.Context, epoch Epoch, to Index) error
	// Secret returns the random bytes that were drawn when the store was
	// created. They are the same for every leader and are never written
	// elsewhere: what is derived from them survives a change of leader.
	Secret(ctx context.Context) ([]byte, error)
	// Capabilities describes the implementation.
	Capabilities() Capabilities
	// Close gives up leadership and releases the store.
	Close() error
}

// Errors that callers decide on.
var (
	ErrFenced     = errors.New("a later epoch leads the journal")
	ErrGap        = errors.New("the batch does not follow the last record")
	ErrCompacted  = errors.New("the records were trimmed")
	ErrNoSnapshot = errors.New("no snapshot")
	// ErrUnknown: writing failed, and what was to be written may be there or
	// not. The handle answers so until it leads anew.
	ErrUnknown = errors.New("it is not known whether the journal was written")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("the journal is closed")
	// ErrCorrupt: the store cannot be read back as written; it was left
	// untouched.
	ErrCorrupt = errors.New("the journal is damaged")
	// ErrNewer: a newer version of the program wrote the store; it was left
	// untouched.
	ErrNewer = errors.New("the journal was written by a newer version")
	// ErrInUse: another process leads and ctx ended while waiting.
	ErrInUse = errors.New("another process holds the journal")
)
