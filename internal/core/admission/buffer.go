// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "encoding/binary"

// buffer collects bytes: as many as a small state or a request has without
// memory of its own, so that it costs the garbage collector nothing.
type buffer struct {
	room [1536]byte
	used int
	more []byte // all of them, once there are too many for room
}

// bytes are all that was collected. They are valid until more is written.
func (b *buffer) bytes() []byte {
	if b.more != nil {
		return b.more
	}
	return b.room[:b.used]
}

func (b *buffer) spill() {
	if b.more == nil {
		b.more = append(make([]byte, 0, 4*len(b.room)), b.room[:b.used]...)
	}
}

func (b *buffer) byte(v byte) {
	if b.more == nil && b.used < len(b.room) {
		b.room[b.used] = v
		b.used++
		return
	}
	b.spill()
	b.more = append(b.more, v)
}

// number writes a number of any size, small ones in one byte.
func (b *buffer) number(v uint64) {
	if v < 0x80 {
		b.byte(byte(v))
		return
	}
	var n [binary.MaxVarintLen64]byte
	b.raw(n[:binary.PutUvarint(n[:], v)])
}

// amount writes a number that may be negative.
func (b *buffer) amount(v int64) {
	var n [binary.MaxVarintLen64]byte
	b.raw(n[:binary.PutVarint(n[:], v)])
}

// text writes a text with its length.
func (b *buffer) text(s string) {
	b.number(uint64(len(s)))
	if b.more == nil && len(s) <= len(b.room)-b.used {
		b.used += copy(b.room[b.used:], s)
		return
	}
	b.spill()
	b.more = append(b.more, s...)
}

// raw writes bytes without their length.
func (b *buffer) raw(p []byte) {
	if b.more == nil && len(p) <= len(b.room)-b.used {
		b.used += copy(b.room[b.used:], p)
		return
	}
	b.spill()
	b.more = append(b.more, p...)
}

func (b *buffer) flag(v bool) {
	if v {
		b.byte(1)
		return
	}
	b.byte(0)
}
