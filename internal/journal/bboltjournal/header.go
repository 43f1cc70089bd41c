// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// What bbolt writes at the beginning of its first two pages, in the byte order
// of the machine.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	// pageHeader is id (8 bytes), flags (2), count (2), overflow (4).
	pageHeader = 16
	// headerSize is magic, version, page size, flags (4 bytes each), root,
	// sequence, free list, page count, transaction, checksum (8 bytes each).
	headerSize = 4*4 + 6*8
	// The page sizes that bbolt may have chosen.
	minPage, maxPage = 1 << 10, 16 << 20
)

// header is one of the two headers of a file. The one with the higher
// transaction counts.
type header struct {
	pageSize            uint32
	root, free, pages   uint64
	transaction         uint64
	magic, version      uint32
	checksum, wantCheck uint64
}

// fault says what is wrong with a header.
func (h header) fault() error {
	switch {
	case h.magic != boltMagic:
		return errors.New("it does not begin as one")
	case h.checksum != h.wantCheck:
		return errors.New("the checksum is wrong")
	case h.version > boltVersion:
		return fmt.Errorf("%w: version %d of the pages, this version knows up to %d", journal.ErrNewer, h.version, boltVersion)
	case h.version != boltVersion, h.pageSize < minPage, h.pageSize > maxPage, h.pageSize&(h.pageSize-1) != 0:
		return errors.New("it says what bbolt does not write")
	}
	return nil
}

// readHeader reads the header of the page at offset.
func readHeader(file io.ReaderAt, offset int64) (header, error) {
	var data [headerSize]byte
	if _, err := file.ReadAt(data[:], offset+pageHeader); err != nil {
		return header{}, err
	}
	order := binary.NativeEndian
	h := header{
		magic: order.Uint32(data[0:]), version: order.Uint32(data[4:]), pageSize: order.Uint32(data[8:]),
		root: order.Uint64(data[16:]), free: order.Uint64(data[32:]), pages: order.Uint64(data[40:]),
		transaction: order.Uint64(data[48:]), checksum: order.Uint64(data[56:]),
	}
	sum := fnv.New64a()
	sum.Write(data[:56])
	h.wantCheck = sum.Sum64()
	return h, nil
}

// newestHeader returns the header that counts. Both have to be good: a crash
// spoils neither, and behind a spoilt one may be what was acknowledged.
func newestHeader(file *os.File) (header, error) {
	first, err := checkedHeader(file, 0, "first")
	if err != nil {
		return first, err
	}
	second, err := checkedHeader(file, int64(first.pageSize), "second")
	if err != nil {
		return second, err
	}
	if first.pageSize != second.pageSize || first.transaction == second.transaction {
		return first, fmt.Errorf("%w: its two headers contradict each other", journal.ErrCorrupt)
	}
	if second.transaction > first.transaction {
		return second, nil
	}
	return first, nil
}

func checkedHeader(file *os.File, offset int64, which string) (header, error) {
	h, err := readHeader(file, offset)
	if errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%w: it ends before its %s header", journal.ErrCorrupt, which)
	}
	if err != nil {
		return h, err
	}
	err = h.fault()
	if err == nil || errors.Is(err, journal.ErrNewer) {
		return h, err
	}
	return h, fmt.Errorf("%w: its %s header is no good: %w", journal.ErrCorrupt, which, err)
}
