// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// TestSignalInTheStateQueue: whoever is told to end while another run has the same
// state leaves the queue at once, with the exit status of an interrupted run, and the
// other one is not disturbed.
func TestSignalInTheStateQueue(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 6*time.Second)
	w := b.workspace("alone", subnet("left", "first", 1))
	first := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	b.awaitOf(first, "the subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	second := b.start(woven, w, "apply", "-auto-approve", "-no-color")
	b.firstWaiting()
	b.signal(second, syscall.SIGINT)
	b.wait(second)
	if first.Exited() {
		t.Fatal("the first run has ended before the second did: nothing is shown")
	}
	if second.Status() != 1 {
		t.Errorf("exit status %d, want 1", second.Status())
	}
	b.wait(first)
	b.succeeded(first)
	if n := b.clean().Succeeded(); n != 4 {
		t.Errorf("%d operations succeeded, want those of the base and one more", n)
	}
	b.noProcesses()
	b.released("the end", w)
}
