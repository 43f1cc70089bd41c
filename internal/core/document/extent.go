// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package document

// extent finds the end of a value that begins with the first byte scanned.
type extent struct {
	depth   int
	quoted  bool // within a string
	escaped bool // behind a backslash
	scalar  bool // a number or a word: it ends before what cannot be part of it
	ended   bool
}

// scan says how many of the bytes belong to the value.
func (s *extent) scan(text []byte) int {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.inString(c)
		default:
			s.outside(c)
		}
		if s.ended {
			if s.scalar {
				return i
			}
			return i + 1
		}
	}
	return len(text)
}

func (s *extent) inString(c byte) {
	switch c {
	case '\\':
		s.escaped = true
	case '"':
		s.quoted = false
		s.ended = s.depth == 0
	}
}

func (s *extent) outside(c byte) {
	switch c {
	case '"':
		s.quoted = true
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.scalar {
			s.ended = true
			return
		}
		s.depth--
		s.ended = s.depth == 0
	case ',', ' ', '\n', '\t', '\r', ':':
		s.ended = s.scalar && s.depth == 0
	default:
		s.scalar = s.scalar || s.depth == 0
	}
}
