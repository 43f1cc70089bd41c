// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package document reads a JSON document piece by piece, so that one of any size
// takes no more memory than its largest piece. It finds where values begin and
// end; what is in them is for encoding/json, or for who reads them.
package document

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrSyntax: the document is not JSON, or ends too early.
var ErrSyntax = errors.New("malformed JSON document")

// Reader walks through one document.
type Reader struct {
	in    *bufio.Reader
	value []byte
}

// NewReader reads a document from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 1<<16)} }

// next is the next byte that is not white space; it stays unread.
func (r *Reader) next() (byte, error) {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, r.in.UnreadByte()
		}
	}
}

// take reads the byte that must come next.
func (r *Reader) take(want byte) error {
	c, err := r.next()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%w: %q where %q belongs", ErrSyntax, c, want)
	}
	_, err = r.in.Discard(1)
	return err
}

// list reads items between two brackets.
func (r *Reader) list(opening, closing byte, item func() error) error {
	if err := r.take(opening); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, err := r.next()
		if err != nil {
			return err
		}
		if c == closing && first {
			return r.take(closing)
		}
		if !first {
			if c == closing {
				return r.take(closing)
			}
			if err := r.take(','); err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// Array reads an array: item has to read one value each time. Null is an empty
// array.
func (r *Reader) Array(item func() error) error {
	if c, err := r.next(); err != nil || c == 'n' {
		return errors.Join(err, r.null())
	}
	return r.list('[', ']', item)
}

// Object reads an object: member has to read the value of the key.
func (r *Reader) Object(member func(key string) error) error {
	return r.list('{', '}', func() error {
		var key string
		text, err := r.Value()
		if err == nil {
			err = json.Unmarshal(text, &key)
		}
		if err != nil {
			return fmt.Errorf("%w: key: %w", ErrSyntax, err)
		}
		if err := r.take(':'); err != nil {
			return err
		}
		return member(key)
	})
}

func (r *Reader) null() error {
	text, err := r.Value()
	if err == nil && string(text) != "null" {
		err = fmt.Errorf("%w: %q", ErrSyntax, text)
	}
	return err
}

// End says whether nothing but white space is left.
func (r *Reader) End() error {
	if _, err := r.next(); !errors.Is(err, io.EOF) {
		return errors.Join(fmt.Errorf("%w: more behind its end", ErrSyntax), err)
	}
	return nil
}

// Value is the text of the next value, of any kind. It is valid until the next
// call. Only its extent is checked.
func (r *Reader) Value() ([]byte, error) {
	if _, err := r.next(); err != nil {
		return nil, err
	}
	r.value = r.value[:0]
	var s extent
	for !s.ended {
		if err := r.more(&s); err != nil {
			return nil, err
		}
	}
	return r.value, nil
}

// more takes what is buffered of a value.
func (r *Reader) more(s *extent) error {
	if _, err := r.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) && s.scalar {
			s.ended = true
			return nil
		}
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	text, err := r.in.Peek(r.in.Buffered())
	if err != nil {
		return err
	}
	n := s.scan(text)
	r.value = append(r.value, text[:n]...)
	_, err = r.in.Discard(n)
	return err
}
