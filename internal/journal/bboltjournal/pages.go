// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// The kinds of pages.
const (
	branchPage = 0x01
	leafPage   = 0x02
	freePage   = 0x10
)

const (
	// elementSize is that of a branch's and of a leaf's element: flags,
	// position, key size, value size (4 bytes each); or position, key size,
	// page (4, 4, 8).
	elementSize = 16
	// bucketHeader is the root page and the sequence (8 bytes each) before a
	// bucket that stands inside a leaf.
	bucketHeader = 16
	// bucketFlag marks an element of a leaf that is a bucket.
	bucketFlag = 1
)

// pageCheck walks all pages that a header leads to. bbolt itself trusts what
// its pages say of each other, and would fault, loop or overwrite what is in
// use where they are wrong.
type pageCheck struct {
	file *os.File
	size uint64 // of a page in bytes
	used []bool // for every page of the file in use
}

// checkPages reads every page once: each belongs to exactly one thing, all
// that is said to be inside a page is, and keys are in order.
func checkPages(file *os.File, h header) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := uint64(h.pageSize)
	if have := uint64(info.Size()) / size; h.pages > have {
		return fmt.Errorf("%w: it is cut off: it has %d of %d pages", journal.ErrCorrupt, have, h.pages)
	}
	p := &pageCheck{file: file, size: size, used: make([]bool, h.pages)}
	if h.pages < 4 {
		return pageFault(h.pages, "the file has too few")
	}
	p.used[0], p.used[1] = true, true
	if err := p.walk(h.root, nil, nil); err != nil {
		return err
	}
	if err := p.free(h.free); err != nil {
		return err
	}
	for id, used := range p.used {
		if !used {
			return pageFault(uint64(id), "it is neither in use nor free")
		}
	}
	return nil
}

func pageFault(id uint64, what string) error {
	return fmt.Errorf("%w: page %d: %s", journal.ErrCorrupt, id, what)
}

// page is one page with what overflows it.
type page struct {
	id    uint64
	kind  uint16
	count int
	data  []byte
}

// take reads a page that nothing else has taken.
func (p *pageCheck) take(id uint64) (page, error) {
	if id >= uint64(len(p.used)) {
		return page{}, pageFault(id, "the file has none of that number")
	}
	var head [pageHeader]byte
	if _, err := p.file.ReadAt(head[:], int64(id*p.size)); err != nil {
		return page{}, err
	}
	order := binary.NativeEndian
	if order.Uint64(head[0:]) != id {
		return page{}, pageFault(id, "it says that it is another one")
	}
	more := uint64(order.Uint32(head[12:]))
	if id+more >= uint64(len(p.used)) {
		return page{}, pageFault(id, "it reaches beyond the end")
	}
	for n := id; n <= id+more; n++ {
		if p.used[n] {
			return page{}, pageFault(n, "it is used twice")
		}
		p.used[n] = true
	}
	out := page{id: id, kind: order.Uint16(head[8:]), count: int(order.Uint16(head[10:])), data: make([]byte, (more+1)*p.size)}
	_, err := p.file.ReadAt(out.data, int64(id*p.size))
	return out, err
}

// walk checks a page of a tree and all below it. Its keys are not below from
// and below to, where those are not nil.
func (p *pageCheck) walk(id uint64, from, to []byte) error {
	pg, err := p.take(id)
	if err != nil {
		return err
	}
	switch pg.kind {
	case leafPage:
		return p.leaf(pg, from, to)
	case branchPage:
		return p.branch(pg, from, to)
	default:
		return pageFault(id, "it is no part of a tree")
	}
}

// element is one entry of a page.
type element struct {
	flags      uint32
	child      uint64
	key, value []byte
}

// elements reads what is in a page, and checks that it is inside and in order.
func (pg page) elements(from, to []byte) ([]element, error) {
	out := make([]element, 0, pg.count)
	for i := range pg.count {
		e, ok := pg.element(i)
		if !ok {
			return nil, pageFault(pg.id, "an entry reaches beyond it")
		}
		last := from
		if i > 0 {
			last = out[i-1].key
		}
		// bbolt gives the first key of a page no more than a lower bound.
		if c := bytes.Compare(e.key, last); c < 0 || c == 0 && i > 0 || to != nil && bytes.Compare(e.key, to) >= 0 {
			return nil, pageFault(pg.id, "its keys are out of order")
		}
		out = append(out, e)
	}
	return out, nil
}

func (pg page) element(i int) (e element, ok bool) {
	start := pageHeader + i*elementSize
	if start+elementSize > len(pg.data) {
		return e, false
	}
	order, raw := binary.NativeEndian, pg.data[start:]
	var position, keySize, valueSize uint64
	if pg.kind == branchPage {
		position, keySize, e.child = uint64(order.Uint32(raw)), uint64(order.Uint32(raw[4:])), order.Uint64(raw[8:])
	} else {
		e.flags = order.Uint32(raw)
		position, keySize, valueSize = uint64(order.Uint32(raw[4:])), uint64(order.Uint32(raw[8:])), uint64(order.Uint32(raw[12:]))
	}
	key := uint64(start) + position
	if key+keySize+valueSize > uint64(len(pg.data)) || keySize == 0 {
		return e, false
	}
	e.key = pg.data[key : key+keySize]
	e.value = pg.data[key+keySize : key+keySize+valueSize]
	return e, true
}

func (p *pageCheck) branch(pg page, from, to []byte) error {
	all, err := pg.elements(from, to)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return pageFault(pg.id, "it leads nowhere")
	}
	for i, e := range all {
		end := to
		if i+1 < len(all) {
			end = all[i+1].key
		}
		if err := p.walk(e.child, e.key, end); err != nil {
			return err
		}
	}
	return nil
}

func (p *pageCheck) leaf(pg page, from, to []byte) error {
	all, err := pg.elements(from, to)
	if err != nil {
		return err
	}
	for _, e := range all {
		switch {
		case e.flags == 0:
		case e.flags == bucketFlag && len(e.value) >= bucketHeader:
			if err := p.bucket(pg.id, e.value); err != nil {
				return err
			}
		default:
			return pageFault(pg.id, "it has an entry of an unknown kind")
		}
	}
	return nil
}

// bucket checks a bucket: a tree of its own, or a leaf inside the value.
func (p *pageCheck) bucket(in uint64, value []byte) error {
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.walk(root, nil, nil)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != leafPage {
		return pageFault(in, "it has a bucket that is none")
	}
	return p.leaf(page{
		id: in, kind: leafPage, count: int(binary.NativeEndian.Uint16(inline[10:])), data: inline,
	}, nil, nil)
}

// free checks the list of free pages.
func (p *pageCheck) free(id uint64) error {
	pg, err := p.take(id)
	if err != nil {
		return err
	}
	if pg.kind != freePage {
		return pageFault(id, "it is no list of free pages")
	}
	order, ids, count := binary.NativeEndian, pg.data[pageHeader:], uint64(pg.count)
	if pg.count == 0xffff { // too many for the header: the first entry is their number
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return pageFault(id, "it lists more free pages than fit")
	}
	for i := range count {
		free := order.Uint64(ids[8*i:])
		if free >= uint64(len(p.used)) || p.used[free] {
			return pageFault(free, "it is in use and listed as free")
		}
		p.used[free] = true
	}
	return nil
}
