// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"testing"
	"time"
)

// TestWaiting: a stage that takes long is told of, again and again, and not any
// more once it is done.
func TestWaiting(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 100)
	w := worker{Runner: &Runner{patience: time.Millisecond, Waiting: func(p Patch, stage string, soFar time.Duration) {
		if soFar >= time.Millisecond {
			heard <- p.Name + " " + stage
		}
	}}}
	done := w.telling(Patch{Name: "p"}, "explorer")
	for range 3 {
		if got := <-heard; got != "p explorer" {
			t.Error(got)
		}
	}
	done()
	for len(heard) > 0 {
		<-heard
	}
	time.Sleep(20 * time.Millisecond)
	if len(heard) > 0 {
		t.Error("told of what is done")
	}
	w.Waiting = nil
	w.telling(Patch{}, "")()
}
