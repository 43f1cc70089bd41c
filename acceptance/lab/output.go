// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"bytes"
	"sync"
	"time"
)

// output collects what a process writes and can be read while it still writes.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	first time.Time
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first.IsZero() {
		o.first = time.Now()
	}
	return o.buf.Write(p)
}

// began is when something was first written; zero if nothing was.
func (o *output) began() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first
}

// String is everything written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
