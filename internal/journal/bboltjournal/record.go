// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

const (
	// recordHeader is the epoch and the checksum before a record's data.
	recordHeader = 8 + 4
	// readPage bounds how much one read transaction copies: records, and
	// bytes after which it ends early.
	readPage      = 256
	readPageBytes = 1 << 20
	// trimPage bounds how many records one transaction forgets, so that an
	// Append never waits long behind it.
	trimPage = 1024
)

// Append writes the batch in one transaction. See [journal.Journal].
func (j *Journal) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	last := after
	err := j.update(ctx, epoch, func(tx *bbolt.Tx) error {
		if have := lastIndex(tx); have != after {
			return fmt.Errorf("behind %d, the last record is %d: %w", after, have, journal.ErrGap)
		}
		records := tx.Bucket(bucketRecords)
		records.FillPercent = 1 // keys only grow: pages need no room for later ones
		for _, data := range batch {
			last++
			if err := records.Put(indexKey(last), encode(last, epoch, data)); err != nil {
				return err
			}
		}
		return putUint(tx.Bucket(bucketMeta), keyLast, uint64(last))
	})
	if err != nil {
		return 0, fmt.Errorf("append behind record %d: %w", after, err)
	}
	return last, nil
}

// Last is the index of the last record.
func (j *Journal) Last(ctx context.Context) (journal.Index, error) {
	var last journal.Index
	err := j.view(ctx, func(tx *bbolt.Tx) error {
		last = lastIndex(tx)
		return nil
	})
	return last, err
}

// Read yields the records from index from on, a page at a time, so that a slow
// reader holds nobody up. Records that are appended meanwhile may be included.
func (j *Journal) Read(ctx context.Context, from journal.Index) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		next := max(from, 1)
		for {
			page, err := j.page(ctx, next)
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			next = page[len(page)-1].Index + 1
		}
	}
}

// page copies the next records from index from on; none at the end.
func (j *Journal) page(ctx context.Context, from journal.Index) ([]journal.Record, error) {
	var page []journal.Record
	err := j.view(ctx, func(tx *bbolt.Tx) error {
		if from <= trimmed(tx) {
			return fmt.Errorf("record %d: %w", from, journal.ErrCompacted)
		}
		size := 0
		c := tx.Bucket(bucketRecords).Cursor()
		for k, v := c.Seek(indexKey(from)); k != nil && len(page) < readPage && size < readPageBytes; k, v = c.Next() {
			want := from + journal.Index(len(page))
			r, err := decode(k, v)
			if err == nil && r.Index != want {
				err = missing(want)
			}
			if err != nil {
				return describe(j.path, err)
			}
			page = append(page, r)
			size += len(v)
		}
		return nil
	})
	return page, err
}

// Trim forgets the records up to to, but none that the snapshot does not
// cover.
func (j *Journal) Trim(ctx context.Context, epoch journal.Epoch, to journal.Index) error {
	for {
		more, err := j.trimSome(ctx, epoch, to)
		if err != nil {
			return fmt.Errorf("trim the journal to %d: %w", to, err)
		}
		if !more {
			return nil
		}
		if err := j.reach(stepTrimmed); err != nil {
			return err
		}
	}
}

func (j *Journal) trimSome(ctx context.Context, epoch journal.Epoch, to journal.Index) (more bool, err error) {
	err = j.update(ctx, epoch, func(tx *bbolt.Tx) error {
		manifest, err := loadManifest(tx)
		if errors.Is(err, journal.ErrNoSnapshot) {
			return nil
		} else if err != nil {
			return err
		}
		done := trimmed(tx)
		end := min(to, manifest.At)
		if end > done+j.trimPage {
			end, more = done+j.trimPage, true
		}
		records := tx.Bucket(bucketRecords)
		for i := done + 1; i <= end; i++ {
			if err := records.Delete(indexKey(i)); err != nil {
				return err
			}
		}
		return putUint(tx.Bucket(bucketMeta), keyTrimmed, uint64(max(end, done)))
	})
	return more, err
}

func trimmed(tx *bbolt.Tx) journal.Index {
	return journal.Index(getUint(tx.Bucket(bucketMeta), keyTrimmed))
}

func lastIndex(tx *bbolt.Tx) journal.Index {
	return journal.Index(getUint(tx.Bucket(bucketMeta), keyLast))
}

func indexKey(i journal.Index) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(i))
}

// encode puts the epoch and a checksum over index, epoch and data before the
// data.
func encode(i journal.Index, epoch journal.Epoch, data []byte) []byte {
	v := make([]byte, recordHeader, recordHeader+len(data))
	binary.BigEndian.PutUint64(v, uint64(epoch))
	v = append(v, data...)
	binary.BigEndian.PutUint32(v[8:], checksum(indexKey(i), v))
	return v
}

func decode(k, v []byte) (journal.Record, error) {
	if len(k) != 8 || len(v) < recordHeader {
		return journal.Record{}, fmt.Errorf("%w: a record is cut off", journal.ErrCorrupt)
	}
	index := journal.Index(binary.BigEndian.Uint64(k))
	if binary.BigEndian.Uint32(v[8:]) != checksum(k, v) {
		return journal.Record{}, fmt.Errorf("%w: the checksum of record %d is wrong", journal.ErrCorrupt, index)
	}
	return journal.Record{
		Index: index,
		Epoch: journal.Epoch(binary.BigEndian.Uint64(v)),
		Data:  bytes.Clone(v[recordHeader:]),
	}, nil
}

func checksum(k, v []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, table, k)
	sum = crc32.Update(sum, table, v[:8])
	return crc32.Update(sum, table, v[recordHeader:])
}
