// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package activity

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Writer appends events to a stream. It is safe for concurrent use; every
// event is handed to the stream in a single Write, so a file opened for
// appending never holds a line with another one inside it.
type Writer struct {
	mu  sync.Mutex
	out io.Writer
}

// NewWriter makes a Writer that appends to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Append writes one event as a line.
func (w *Writer) Append(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode activity event: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append activity event: %w", err)
	}
	return nil
}
