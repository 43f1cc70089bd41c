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

// TestSignalTerminatedAndThenKilled: a CI runner asks a run to end, and kills it
// when that takes too long. The call that was in flight stays uncertain until
// somebody has seen its end.
func TestSignalTerminatedAndThenKilled(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, lease+3*time.Second)
	w := b.workspace("victim", chain("left", "first", "second"))
	victim := leased(b, w, "make two subnets")
	b.awaitOf(victim, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	b.signal(victim, syscall.SIGTERM)
	b.awaitSaid(victim, "Interrupt received")
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait(victim)
	if b.written(b.log(), "subnets", "first").Done() {
		t.Fatal("the call has ended before the kill: nothing is shown")
	}
	b.noProcesses()
	rival := leased(b, b.workspace("rival", subnet("left", "rival", 9)), "make another subnet")
	b.wait(rival)
	b.succeeded(rival)
	b.noFolders()
	log := b.clean()
	first := b.written(log, "subnets", "first")
	if b.written(log, "subnets", "rival").Start.Before(first.End) {
		t.Error("the rival was let in while the killed call was still running")
	}
	b.settledAfter("simcloud_subnet.first", first.End)
	b.usable(w)
}

// TestSignalKilledLeavesNoCLI: a CLI whose tfweaver was killed has no providers
// any more. It ends with the next step that needs one, and the state can be read and
// locked by whoever comes next.
func TestSignalKilledLeavesNoCLI(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, time.Second)
	w := b.workspace("victim", subnet("left", "first", 1)+subnet("left", "second", 2, after("terraform_data.slow"))+`
resource "terraform_data" "slow" {
  depends_on = [simcloud_subnet.first]
  provisioner "local-exec" {
    command = "touch begun; exec sleep 2"
  }
}
`)
	victim := leased(b, w, "make a subnet and wait")
	b.awaitFile(victim, w, "begun")
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait(victim)
	b.noProcesses()
	if lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
		t.Error("the killed run went on")
	}
	b.usable(w)
	b.clean()
}
