// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"strconv"
	"unicode/utf8"
)

// quoted is the next value, a string. It is valid until the next call.
func (p *parse) quoted() []byte {
	if p.take('"'); !p.ok {
		return nil
	}
	end, ascii, escapes := closing(p.rest)
	if end < 0 {
		p.ok = false
		return nil
	}
	text := p.rest[:end]
	p.rest = p.rest[end+1:]
	if escapes {
		text = p.unescape(text)
	}
	// What is no UTF-8 is put right by encoding/json.
	p.ok = p.ok && (ascii || utf8.Valid(text))
	return text
}

// closing is the place of the quote that ends a string, -1 for none or where
// there is a byte that JSON forbids; and what is before it.
func closing(text []byte) (end int, ascii, escapes bool) {
	ascii = true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i, ascii, escapes
		case c == '\\':
			escapes = true
			i++ // also what is escaped
		case c < ' ':
			return -1, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return -1, false, false
}

// unescape is a text without its escapes.
func (p *parse) unescape(text []byte) []byte {
	out := p.unescaped[:0]
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = utf8.AppendRune(out, p.codepoint(text[i+1:]))
			i += 4
		default: // hardly anybody writes the others
			p.ok = false
		}
		if !p.ok {
			return nil
		}
	}
	p.unescaped = out
	return out
}

// codepoint is what four hexadecimal digits stand for. Halves of a pair are left
// to encoding/json.
func (p *parse) codepoint(text []byte) rune {
	if len(text) < 4 {
		p.ok = false
		return utf8.RuneError
	}
	v, err := strconv.ParseUint(string(text[:4]), 16, 16)
	p.ok = err == nil && utf8.ValidRune(rune(v))
	return rune(v)
}
