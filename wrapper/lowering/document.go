// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errJSON says that a text is not the JSON form of a plan. Its text never
// quotes the plan.
var errJSON = errors.New("it is not JSON as the CLI writes it")

// document reads the JSON form of a plan piece by piece. The whole of it takes
// many times as much memory as its text, and most of it is not needed: the
// states before and after are in it twice.
//
// What is skipped is not checked for more than its end.
type document struct {
	in *bufio.Reader
	// piece is the value that was read last, without the space around it.
	piece bytes.Buffer
}

// readAhead is how much of a plan is read at a time, in bytes.
const readAhead = 64 << 10

func newDocument(in io.Reader) *document { return &document{in: bufio.NewReaderSize(in, readAhead)} }

// members calls take for each member of the object that comes next, with the
// document at its value; take reads or skips that.
func (d *document) members(take func(name string) error) error {
	return d.each('{', '}', func() error {
		raw, err := d.value()
		if err != nil {
			return err
		}
		var name string
		if err := decodeJSON(raw, &name); err != nil {
			return err
		}
		if c, err := d.next(); err != nil || c != ':' {
			return errors.Join(err, errJSON)
		}
		return take(name)
	})
}

// elements calls take for each element of the list that comes next, with the
// document at it. A null is a list without any.
func (d *document) elements(take func() error) error {
	c, err := d.peek()
	if err == nil && c == 'n' {
		return d.skip()
	}
	return d.each('[', ']', take)
}

// each goes through what stands between an opening and a closing mark, with
// commas between.
func (d *document) each(opening, closing byte, take func() error) error {
	if c, err := d.next(); err != nil || c != opening {
		return errors.Join(err, errJSON)
	}
	if c, err := d.peek(); err != nil || c == closing {
		_, _ = d.next()
		return err
	}
	for {
		if err := take(); err != nil {
			return err
		}
		switch c, err := d.next(); {
		case err != nil:
			return err
		case c == closing:
			return nil
		case c != ',':
			return errJSON
		}
	}
}

// end is an error when anything but space follows.
func (d *document) end() error {
	if _, err := d.peek(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.Join(err, errJSON)
	}
	return nil
}

// peek is the next byte that is no space, which stays.
func (d *document) peek() (byte, error) {
	c, err := d.next()
	if err == nil {
		err = d.in.UnreadByte()
	}
	return c, err
}

// next is the next byte that is no space.
func (d *document) next() (byte, error) {
	for {
		switch c, err := d.in.ReadByte(); {
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, fmt.Errorf("read: %w", err)
		case c != ' ' && c != '\n' && c != '\t' && c != '\r':
			return c, nil
		}
	}
}

// decode reads the value that comes next into what v points to.
func (d *document) decode(v any) error {
	raw, err := d.value()
	if err != nil {
		return err
	}
	return decodeJSON(raw, v)
}

// decodeJSON keeps numbers as they are written. The error does not quote what it
// is about.
func decodeJSON(raw []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return errJSON
	}
	return nil
}

// value is the text of the value that comes next; it is good until the next call.
func (d *document) value() ([]byte, error) {
	d.piece.Reset()
	if err := d.walk(func(c byte) { d.piece.WriteByte(c) }); err != nil {
		return nil, err
	}
	return d.piece.Bytes(), nil
}

// skip leaves out the value that comes next.
func (d *document) skip() error { return d.walk(func(byte) {}) }

// walk goes to the end of the value that comes next.
func (d *document) walk(take func(byte)) error {
	c, err := d.next()
	if err != nil {
		return err
	}
	take(c)
	switch c {
	case '"':
		return d.text(take)
	case '{', '[':
		return d.nested(take)
	case '}', ']', ',', ':':
		return errJSON
	default:
		return d.literal(take)
	}
}

// nested goes to the end of an object or a list that has begun.
func (d *document) nested(take func(byte)) error {
	for depth := 1; depth > 0; {
		c, err := d.next()
		if err != nil {
			return err
		}
		take(c)
		switch c {
		case '"':
			err = d.text(take)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text goes to the end of a text that has begun.
func (d *document) text(take func(byte)) error {
	for escaped := false; ; {
		c, err := d.in.ReadByte()
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		take(c)
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			return nil
		}
	}
}

// literal goes to the end of a number or a name that has begun.
func (d *document) literal(take func(byte)) error {
	for {
		c, err := d.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		case bytes.IndexByte([]byte(" \n\t\r,:]}"), c) >= 0:
			return d.in.UnreadByte()
		}
		take(c)
	}
}

// untyped makes maps and lists of JSON texts, with one decoder for all: a plan has
// some ten of them for each change.
type untyped struct {
	rest    []byte
	decoder *json.Decoder
}

func newUntyped() *untyped {
	u := &untyped{}
	u.decoder = json.NewDecoder(u)
	u.decoder.UseNumber()
	return u
}

// Read implements io.Reader for the decoder.
func (u *untyped) Read(p []byte) (int, error) {
	if len(u.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

// read is what a text says, nil where there is none. After an error nothing more
// can be read.
func (u *untyped) read(text []byte) (v any, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	u.rest = append(text, ' ') // a number ends only where something follows
	if err := u.decoder.Decode(&v); err != nil {
		return nil, errJSON
	}
	return v, nil
}
