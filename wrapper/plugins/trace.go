// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"strings"
	"sync"
)

// maxTrace bounds what is kept of a panic trace, in bytes. A trace of a busy
// provider can list hundreds of goroutines; the first ones tell the cause.
const maxTrace = 256 << 10

// traceWriter collects the panic trace from a provider's standard error. The
// CLI prints such a trace itself when it runs the provider, but not for one
// that it only reattached to.
type traceWriter struct {
	mu      sync.Mutex
	line    []byte
	inTrace bool
	trace   strings.Builder
}

// Write takes any part of the stream and never fails.
func (w *traceWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		head, tail, ended := bytes.Cut(rest, []byte{'\n'})
		// A line that is longer than a whole trace is kept in part.
		if len(w.line) < maxTrace {
			w.line = append(w.line, head...)
		}
		if ended {
			w.endLine()
		}
		rest = tail
	}
	return len(p), nil
}

func (w *traceWriter) endLine() {
	line := string(w.line)
	w.line = w.line[:0]
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		w.inTrace = true
	}
	// Log lines of other goroutines come between; they are JSON objects.
	if !w.inTrace || strings.HasPrefix(line, `{"@`) {
		return
	}
	if w.trace.Len()+len(line) < maxTrace {
		w.trace.WriteString(line)
		w.trace.WriteByte('\n')
	}
}

// String returns the trace so far.
func (w *traceWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimRight(w.trace.String(), "\n")
}
