// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// Format is the version of the file's layout. It rises only when an older
// program would misread the file, never by merely opening it, and not before
// the first release: until then a change of the layout makes older files
// damaged ones. What a record or a snapshot says has a format of its own.
//
//	meta       format, epoch, last, trimmed: big-endian uint64; secret: random
//	           bytes; manifest: the newest complete snapshot, as JSON;
//	           sum: CRC-32C over the others
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
	keyLast     = []byte("last")
	keyTrimmed  = []byte("trimmed")
	keySecret   = []byte("secret")
	keyManifest = []byte("manifest")
	keySum      = []byte("sum")
)

// checkLayout refuses what a newer program wrote, and what is incomplete.
func checkLayout(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return fmt.Errorf("%w: it is no journal of tfweaver", journal.ErrCorrupt)
	}
	// Before the checksum, which may be another one there.
	format := getUint(meta, keyFormat)
	if format > Format {
		return fmt.Errorf("%w: format %d, this version knows up to %d", journal.ErrNewer, format, Format)
	}
	if format == 0 || len(meta.Get(keySecret)) != journal.SecretSize ||
		tx.Bucket(bucketRecords) == nil || tx.Bucket(bucketSnapshots) == nil {
		return fmt.Errorf("%w: a part of it is missing", journal.ErrCorrupt)
	}
	if !bytes.Equal(meta.Get(keySum), metaSum(meta)) {
		return fmt.Errorf("%w: the checksum of what it says of itself is wrong", journal.ErrCorrupt)
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
	if err := putUint(meta, keyFormat, Format); err != nil {
		return err
	}
	return seal(tx)
}

// seal renews the checksum over what the file says of itself. It is the last
// thing in every transaction.
func seal(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	return meta.Put(keySum, metaSum(meta))
}

// metaSum covers every key and value but itself, each with its length.
func metaSum(meta *bbolt.Bucket) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	c := meta.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if bytes.Equal(k, keySum) {
			continue
		}
		var lengths []byte
		lengths = binary.BigEndian.AppendUint32(lengths, uint32(len(k)))
		lengths = binary.BigEndian.AppendUint32(lengths, uint32(len(v)))
		for _, part := range [][]byte{lengths, k, v} {
			sum = crc32.Update(sum, table, part)
		}
	}
	return binary.BigEndian.AppendUint32(nil, sum)
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
