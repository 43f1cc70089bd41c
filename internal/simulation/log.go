// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"time"
)

// tailLines is how many events a failure shows.
const tailLines = 80

// eventLog is everything that happened, one line an event.
type eventLog struct {
	out  io.Writer // nil keeps no more than the tail
	sum  hash.Hash
	tail []string
	n    int
	err  error
}

func newEventLog(out io.Writer) *eventLog { return &eventLog{out: out, sum: sha256.New()} }

// add writes one event. Everything in it has to follow from the seed.
func (l *eventLog) add(at time.Duration, step int, who, text string) {
	line := fmt.Sprintf("%12.6f %7d %-12s %s\n", at.Seconds(), step, who, text)
	l.n++
	l.sum.Write([]byte(line)) // a hash never fails
	if l.out != nil && l.err == nil {
		_, l.err = io.WriteString(l.out, line)
	}
	if len(l.tail) == 2*tailLines {
		l.tail = append(l.tail[:0], l.tail[tailLines:]...)
	}
	l.tail = append(l.tail, line)
}

// last are the last events.
func (l *eventLog) last() []string { return l.tail[max(0, len(l.tail)-tailLines):] }

func (w *World) logf(who, format string, args ...any) {
	w.log.add(w.since(), w.steps, who, fmt.Sprintf(format, args...))
}
