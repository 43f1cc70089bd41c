// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// chunkSize is how many bytes of a snapshot one transaction writes, so that an
// Append never waits long behind it.
const chunkSize = 512 << 10

// rowSize is how many bytes of a chunk are one value. bbolt writes a page with
// its neighbours anew until it holds some values: with values as large as a
// chunk, a snapshot would be written four times over.
const rowSize = 16 << 10

// manifest makes a snapshot visible: it is written last, in one transaction
// that also removes the values of every other snapshot.
type manifest struct {
	At journal.Index `json:"at"`
	ID uint64        `json:"id"`
	// Chunks is how many values there are, of any size.
	Chunks uint32 `json:"chunks"`
	Sum    []byte `json:"sha256"`
}

func loadManifest(tx *bbolt.Tx) (manifest, error) {
	data := tx.Bucket(bucketMeta).Get(keyManifest)
	if data == nil {
		return manifest{}, journal.ErrNoSnapshot
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, fmt.Errorf("%w: the snapshot's manifest: %w", journal.ErrCorrupt, err)
	}
	return m, nil
}

// SaveSnapshot writes the chunks, then the manifest. Chunks that a crash left
// without a manifest are invisible and go with the next snapshot.
func (j *Journal) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	select {
	case j.saving <- struct{}{}:
		defer func() { <-j.saving }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := j.saveSnapshot(ctx, epoch, at, state); err != nil {
		return fmt.Errorf("save the snapshot at %d: %w", at, err)
	}
	return nil
}

func (j *Journal) saveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	m := manifest{At: at}
	err := j.update(ctx, epoch, func(tx *bbolt.Tx) error {
		if last := lastIndex(tx); at > last {
			return fmt.Errorf("the last record is %d: %w", last, journal.ErrGap)
		}
		m.ID = freeID(tx)
		return nil
	})
	if err != nil {
		return err
	}
	if err := j.saveChunks(ctx, epoch, &m, state); err != nil {
		return errors.Join(err, j.dropChunks(context.WithoutCancel(ctx), epoch, m.ID))
	}
	if err := j.reach(stepChunks); err != nil {
		return err
	}
	return j.update(ctx, epoch, func(tx *bbolt.Tx) error { return publish(tx, m) })
}

// freeID is above the ids of all snapshots that there are, whole or not.
func freeID(tx *bbolt.Tx) uint64 {
	var id uint64
	if m, err := loadManifest(tx); err == nil {
		id = m.ID
	}
	if k, _ := tx.Bucket(bucketSnapshots).Cursor().Last(); len(k) > 8 {
		id = max(id, binary.BigEndian.Uint64(k))
	}
	return id + 1
}

// saveChunks writes the state and completes the manifest.
func (j *Journal) saveChunks(ctx context.Context, epoch journal.Epoch, m *manifest, state io.Reader) error {
	sum := sha256.New()
	buf := make([]byte, j.chunkSize)
	for {
		n, err := io.ReadFull(state, buf)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read the state: %w", err)
		}
		if n > 0 {
			sum.Write(buf[:n])
			if err := j.saveChunk(ctx, epoch, m, buf[:n]); err != nil {
				return err
			}
			if err := j.reach(stepChunk); err != nil {
				return err
			}
		}
		if err != nil {
			m.Sum = sum.Sum(nil)
			return nil
		}
	}
}

func (j *Journal) saveChunk(ctx context.Context, epoch journal.Epoch, m *manifest, data []byte) error {
	return j.update(ctx, epoch, func(tx *bbolt.Tx) error {
		rows := tx.Bucket(bucketSnapshots)
		rows.FillPercent = 1 // keys only grow
		for row := range slices.Chunk(data, rowSize) {
			if err := rows.Put(chunkKey(m.ID, m.Chunks), row); err != nil {
				return err
			}
			m.Chunks++
		}
		return nil
	})
}

// publish makes m the snapshot, unless a newer one is there.
func publish(tx *bbolt.Tx, m manifest) error {
	old, err := loadManifest(tx)
	if err == nil && old.At > m.At {
		return deleteChunks(tx, func(id uint64) bool { return id == m.ID })
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := tx.Bucket(bucketMeta).Put(keyManifest, data); err != nil {
		return err
	}
	return deleteChunks(tx, func(id uint64) bool { return id != m.ID })
}

// dropChunks removes what a failed snapshot wrote.
func (j *Journal) dropChunks(ctx context.Context, epoch journal.Epoch, id uint64) error {
	return j.update(ctx, epoch, func(tx *bbolt.Tx) error {
		return deleteChunks(tx, func(other uint64) bool { return other == id })
	})
}

func deleteChunks(tx *bbolt.Tx, which func(id uint64) bool) error {
	b := tx.Bucket(bucketSnapshots)
	var doomed [][]byte
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if which(binary.BigEndian.Uint64(k)) {
			doomed = append(doomed, bytes.Clone(k))
		}
	}
	for _, k := range doomed {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// LoadSnapshot returns the newest complete snapshot. Its reader ends with
// ErrCorrupt instead of io.EOF when the state is not what was saved.
func (j *Journal) LoadSnapshot(ctx context.Context) (journal.Index, io.ReadCloser, error) {
	var m manifest
	err := j.view(ctx, func(tx *bbolt.Tx) (err error) {
		m, err = loadManifest(tx)
		return err
	})
	if err != nil {
		return 0, nil, j.Explain(err)
	}
	return m.At, &snapshotReader{ctx: ctx, journal: j, manifest: m, sum: sha256.New()}, nil
}

var errReplaced = errors.New("a newer snapshot took the place of the one being read")

// snapshotReader copies one chunk at a time and holds nothing between reads.
type snapshotReader struct {
	ctx      context.Context
	journal  *Journal
	manifest manifest
	next     uint32
	rest     []byte
	sum      hash.Hash
}

// Read implements io.Reader.
func (r *snapshotReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.next == r.manifest.Chunks {
			return 0, r.end()
		}
		if err := r.load(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *snapshotReader) load() error {
	err := r.journal.view(r.ctx, func(tx *bbolt.Tx) error {
		if m, err := loadManifest(tx); err != nil || m.ID != r.manifest.ID {
			return errors.Join(errReplaced, err)
		}
		r.rest = bytes.Clone(tx.Bucket(bucketSnapshots).Get(chunkKey(r.manifest.ID, r.next)))
		return nil
	})
	if err != nil {
		return err
	}
	if len(r.rest) == 0 {
		return fmt.Errorf("%w: chunk %d of the snapshot at %d is missing", journal.ErrCorrupt, r.next, r.manifest.At)
	}
	r.sum.Write(r.rest)
	r.next++
	return nil
}

func (r *snapshotReader) end() error {
	if !bytes.Equal(r.sum.Sum(nil), r.manifest.Sum) {
		return fmt.Errorf("%w: the checksum of the snapshot at %d is wrong", journal.ErrCorrupt, r.manifest.At)
	}
	return io.EOF
}

// Close implements io.Closer.
func (r *snapshotReader) Close() error { return nil }

func chunkKey(id uint64, n uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, id), n)
}
