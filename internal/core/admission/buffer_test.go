// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBufferKeepsEverything: what was written can be read back, in whatever order
// and however much it is. Otherwise different states could have one hash.
func TestBufferKeepsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b buffer
		var checks []func(rest []byte) []byte
		for range rapid.IntRange(1, 60).Draw(t, "values") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				v := rapid.OneOf(rapid.Uint64Range(0x7e, 0x82), rapid.Uint64()).Draw(t, "number")
				b.number(v)
				checks = append(checks, func(rest []byte) []byte {
					got, n := binary.Uvarint(rest)
					if n <= 0 || got != v {
						t.Fatalf("%d came back as %d", v, got)
					}
					return rest[n:]
				})
			case 1:
				v := rapid.Int64().Draw(t, "amount")
				b.amount(v)
				checks = append(checks, func(rest []byte) []byte {
					got, n := binary.Varint(rest)
					if n <= 0 || got != v {
						t.Fatalf("%d came back as %d", v, got)
					}
					return rest[n:]
				})
			case 2:
				v := rapid.Bool().Draw(t, "flag")
				b.flag(v)
				checks = append(checks, func(rest []byte) []byte {
					if (rest[0] == 1) != v {
						t.Fatalf("%t came back as %d", v, rest[0])
					}
					return rest[1:]
				})
			default:
				v := rapid.StringOfN(rapid.RuneFrom([]rune{'a', 0x80, 0}), 0, 400, -1).Draw(t, "text")
				raw := rapid.Bool().Draw(t, "raw")
				if raw {
					b.number(uint64(len(v)))
					b.raw([]byte(v))
				} else {
					b.text(v)
				}
				checks = append(checks, func(rest []byte) []byte {
					length, n := binary.Uvarint(rest)
					if n <= 0 || length != uint64(len(v)) || string(rest[n:n+len(v)]) != v {
						t.Fatalf("%q came back otherwise", v)
					}
					return rest[n+len(v):]
				})
			}
		}
		rest := b.bytes()
		for _, check := range checks {
			rest = check(rest)
		}
		if len(rest) != 0 {
			t.Fatalf("%d bytes more than were written", len(rest))
		}
	})
}

// TestBufferSpills: what no longer fits goes on behind what did, to the byte.
func TestBufferSpills(t *testing.T) {
	t.Parallel()
	room := len(buffer{}.room)
	for n := room - 12; n <= room+4; n++ {
		for name, last := range map[string]func(*buffer, []byte) []byte{
			"text":   func(b *buffer, want []byte) []byte { b.text("end"); return append(want, "\x03end"...) },
			"raw":    func(b *buffer, want []byte) []byte { b.raw([]byte("end")); return append(want, "end"...) },
			"number": func(b *buffer, want []byte) []byte { b.number(1 << 40); return binary.AppendUvarint(want, 1<<40) },
			"amount": func(b *buffer, want []byte) []byte { b.amount(-1 << 40); return binary.AppendVarint(want, -1<<40) },
			"flag":   func(b *buffer, want []byte) []byte { b.flag(true); return append(want, 1) },
		} {
			var b buffer
			first := strings.Repeat("x", n)
			b.text(first)
			want := append(binary.AppendUvarint(nil, uint64(n)), first...)
			for range 3 {
				want = last(&b, want)
			}
			if !bytes.Equal(b.bytes(), want) {
				t.Errorf("%d bytes and a %s: %d bytes, want %d", n, name, len(b.bytes()), len(want))
			}
		}
	}
}
