// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// errTooLong says that a CLI printed more than it may.
var errTooLong = errors.New("the output is too long")

// Stream runs the CLI, and read reads what it prints, at most limit bytes, while
// it prints that. What read leaves is thrown away, so that the CLI never waits for
// it. Errors are *OutputError when the CLI ran and failed, whatever read made of
// what came until then; else they are those of read.
func (p Process) Stream(ctx context.Context, limit int64, read func(io.Reader) error) error {
	out, in := io.Pipe()
	msg := &bounded{limit: maxStderr}
	p.Stdout, p.Stderr = in, msg
	understood := make(chan error, 1)
	go func() { understood <- readAll(out, limit, read) }()
	code, err := p.Run(ctx)
	_ = in.Close()
	unread := <-understood
	switch {
	case err != nil:
		return err
	case code != 0:
		return &OutputError{Command: p.name(), ExitCode: code, Stderr: msg.kept.String()}
	case errors.Is(unread, errTooLong):
		return fmt.Errorf("%q printed more than %d bytes", p.name(), limit)
	default:
		return unread
	}
}

// readAll reads all of out, whatever read leaves of it.
func readAll(out io.Reader, limit int64, read func(io.Reader) error) error {
	limited := &io.LimitedReader{R: out, N: limit}
	err := read(limited)
	// Nothing fails but the pipe's other end, which closes without an error.
	_, _ = io.Copy(io.Discard, limited)
	if over, _ := io.Copy(io.Discard, out); over > 0 {
		return errTooLong
	}
	return err
}

// Object is the JSON object in what a CLI prints, as Document is that in what it
// has printed; nothing when there is none. What is within the object is not
// checked for more than its end.
func Object(printed io.Reader) io.Reader { return &object{in: printed, lineBegins: true} }

// object cuts off what is before and behind an object.
type object struct {
	in io.Reader
	// lineBegins is true before the object where a line begins.
	lineBegins bool
	// depth counts the objects and lists that are open.
	depth           int
	quoted, escaped bool
	begun, over     bool
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	for !o.over && len(p) > 0 {
		n, err := o.in.Read(p)
		from := o.begin(p[:n])
		to := o.end(p[from:n])
		if to > 0 {
			copy(p, p[from:from+to])
			return to, err
		}
		if err != nil {
			return 0, err
		}
	}
	if o.over {
		return 0, io.EOF
	}
	return 0, nil
}

// begin is where the object begins in a piece, or the end of the piece.
func (o *object) begin(piece []byte) int {
	for i, c := range piece {
		if o.begun {
			return i
		}
		if o.lineBegins && c == '{' {
			o.begun = true
			return i
		}
		o.lineBegins = c == '\n'
	}
	return len(piece)
}

// end is how much of a piece belongs to the object.
func (o *object) end(piece []byte) int {
	for i, c := range piece {
		switch {
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = c == '\\', c != '"'
		case c == '"':
			o.quoted = true
		case c == '{', c == '[':
			o.depth++
		case c == '}', c == ']':
			o.depth--
			if o.depth == 0 {
				o.over = true
				return i + 1
			}
		}
	}
	return len(piece)
}
