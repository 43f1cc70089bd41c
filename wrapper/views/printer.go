// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"bytes"
	"io"
	"sync"
)

// Printer writes whole texts to one stream, one after another.
type Printer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewPrinter returns a printer for a stream. All that write to the stream
// must share it.
func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// Print writes a text in one piece. That a stream is gone is not worth more
// trouble than the run itself.
func (p *Printer) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text)
}

// maxLine bounds a line that is kept until its end has come, in bytes.
// Terraform's longest lines carry whole plans.
const maxLine = 64 << 20

// Lines is a writer that hands a program's output on to a printer line by
// line, leaving out the lines that drop chooses.
type Lines struct {
	printer *Printer
	drop    func(line []byte) bool
	rest    []byte
}

// NewLines returns a writer to printer; drop may be nil.
func NewLines(printer *Printer, drop func(line []byte) bool) *Lines {
	return &Lines{printer: printer, drop: drop}
}

// Write takes any part of the output. It fails when the stream is gone, so
// that the program that writes learns of it.
func (l *Lines) Write(data []byte) (int, error) {
	l.rest = append(l.rest, data...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			break
		}
		if err := l.put(l.rest[:end+1]); err != nil {
			return 0, err
		}
		l.rest = l.rest[end+1:]
	}
	if len(l.rest) > maxLine {
		return len(data), l.Flush()
	}
	return len(data), nil
}

// Flush writes a last line that has no end.
func (l *Lines) Flush() error {
	rest := l.rest
	l.rest = nil
	if len(rest) == 0 {
		return nil
	}
	return l.put(rest)
}

func (l *Lines) put(line []byte) error {
	if l.drop != nil && l.drop(line) {
		return nil
	}
	l.printer.mu.Lock()
	defer l.printer.mu.Unlock()
	_, err := l.printer.w.Write(line)
	return err
}
