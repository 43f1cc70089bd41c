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
	// last are the last lines that are no log lines.
	last []string
}

// maxLast bounds how many lines are kept, maxLine each of them, in bytes.
const (
	maxLast = 10
	maxLine = 1000
)

// Write takes any part of the stream and never fails.
func (w *traceWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		head, tail, ended := bytes.Cut(rest, []byte{'\n'})
		// A line that is longer than a whole trace is kept in part, and of a log
		// line no more is needed than what tells that it is one: providers print
		// them by the thousand, whether anybody wants them or not.
		if len(w.line) < maxTrace && !bytes.HasPrefix(w.line, []byte(logLine)) {
			w.line = append(w.line, head...)
		}
		if ended {
			w.endLine()
		}
		rest = tail
	}
	return len(p), nil
}

// logLine is how log lines begin: they are JSON objects.
const logLine = `{"@`

func (w *traceWriter) endLine() {
	// Log lines of other goroutines come between those of a trace.
	if bytes.HasPrefix(w.line, []byte(logLine)) {
		w.line = w.line[:0]
		return
	}
	line := string(w.line)
	w.line = w.line[:0]
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		w.inTrace = true
	}
	if !w.inTrace {
		w.keep(line)
		return
	}
	if w.trace.Len()+len(line) < maxTrace {
		w.trace.WriteString(line)
		w.trace.WriteByte('\n')
	}
}

// keep remembers one of the last lines.
func (w *traceWriter) keep(line string) {
	if len(w.last) == maxLast {
		w.last = w.last[1:]
	}
	w.last = append(w.last, line[:min(len(line), maxLine)])
}

// Last returns the last lines outside of a trace.
func (w *traceWriter) Last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(strings.Join(w.last, "\n"))
}

// String returns the trace so far.
func (w *traceWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimRight(w.trace.String(), "\n")
}
