// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// resumeLimit is how long after a crash those may be held up who have nothing to
// do with what was going on.
const resumeLimit = lease + 5*time.Second

// twoNetworks is what others made before the tests of this file begin.
func twoNetworks(b *bench) {
	b.t.Helper()
	b.succeeded(b.applyAll(plain, b.workspace("base", group()+network("left", "")+network("right", "")))...)
}

// slowSubnets is a cloud in which a subnet outlives the lease of its session.
func slowSubnets() lab.Setup {
	cloud := fast()
	cloud.Latencies["subnet"] = lease + 2*time.Second
	return lab.Setup{Cloud: cloud}
}

// written is the operation on an object that the cloud has accepted; there must
// be exactly one.
func (b *bench) written(log activity.Log, objectType, name string) activity.Operation {
	b.t.Helper()
	var found []activity.Operation
	for _, o := range log.Operations {
		if lab.Is(o, objectType, name) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		b.t.Fatalf("%d operations on %s %s, want one", len(found), objectType, name)
	}
	return found[0]
}

// resumed fails the test unless an operation began soon after a crash.
func (b *bench) resumed(o activity.Operation, crash time.Time) {
	b.t.Helper()
	after := o.Start.Sub(crash)
	b.t.Logf("%s goes on %v after the crash", o.Actor, after)
	if after > resumeLimit {
		b.t.Errorf("%s, which is in nobody's way, went on %v after the crash, more than %v", o.Actor, after, resumeLimit)
	}
}

// TestC21KilledWrapper: kill -9 of a wrapper whose call is in flight. Its lock
// lasts until somebody has seen how the call ended, and stands in nobody else's
// way (atlantis issues 3411 and 4296).
func TestC21KilledWrapper(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowSubnets())
	twoNetworks(b)
	victim := leased(b, b.workspace("victim", chain("left", "first", "second")), "make two subnets")
	rival, bystander := b.workspace("rival", subnet("left", "rival", 9)), b.workspace("bystander", subnet("right", "bystander", 1))
	b.awaitOf(victim, "the victim's first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	crash := time.Now()
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	others := []*lab.Run{leased(b, rival, "make another subnet"), leased(b, bystander, "work elsewhere")}
	err := b.AwaitStatus(b.ctx, "the killed call is uncertain", func(s lab.Status) bool { return uncertain(s) == 1 })
	if err != nil {
		t.Fatal(err)
	}
	b.wait(append(others, victim)...)
	b.succeeded(others...)
	log := b.clean()
	b.resumed(b.written(log, "subnets", "bystander"), crash)
	first := b.written(log, "subnets", "first")
	if b.written(log, "subnets", "rival").Start.Before(first.End) {
		t.Error("the rival was let in while the killed call was still running")
	}
	if lab.Wrote("subnets", "second", activity.Accepted)(log) {
		t.Error("the killed run went on")
	}
	b.settledAfter("simcloud_subnet.first", first.End)
}

// uncertain is the number of calls with an unknown outcome.
func uncertain(s lab.Status) (n int) {
	for _, tx := range s.Transactions {
		if tx.Status == string(admission.Uncertain) {
			n++
		}
	}
	return n
}

// settledAfter fails the test unless the journal says that a call was uncertain,
// and was taken for done only when it was, and not by somebody's word.
func (b *bench) settledAfter(address string, end time.Time) {
	b.t.Helper()
	journal, err := b.Journal(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	calls := make(map[admission.TxID]bool)
	lost, settled := 0, 0
	for _, r := range journal.Records {
		_, word := r.Command.(admission.Resolve)
		for _, event := range r.Events {
			switch e := event.(type) {
			case admission.TxSubmitted:
				calls[e.Tx.ID] = e.Tx.Address == address
			case admission.TxUncertain:
				if calls[e.Tx] {
					lost++
				}
			case admission.TxEnded:
				if !calls[e.Tx] {
					continue
				}
				settled++
				if at := time.Unix(0, e.At); e.Status == admission.Operational && at.Before(end) || word {
					b.t.Errorf("%s is %s at %v (by a person's word: %v); the cloud was at it until %v", address, e.Status, at, word, end)
				}
			}
		}
	}
	if lost != 1 || settled != 1 {
		b.t.Errorf("%s was uncertain %d times and settled %d times, want once", address, lost, settled)
	}
}

// TestC21KilledCoordinator: kill -9 of the serving process while calls are in
// flight and one waits. The runs find or start the next one, and nobody fails.
func TestC21KilledCoordinator(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowSubnets())
	twoNetworks(b)
	holder := leased(b, b.workspace("holder", chain("left", "first", "second")), "make two subnets")
	rival, bystander := b.workspace("rival", subnet("left", "rival", 9)), b.workspace("bystander", subnet("right", "bystander", 1))
	b.awaitOf(holder, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	waiting := leased(b, rival, "make another subnet")
	b.firstWaiting()
	pid, err := b.CoordinatorPID()
	if err != nil || pid == 0 {
		t.Fatalf("no coordinator: %v", err)
	}
	crash := time.Now()
	if err := (lab.Process{PID: pid, Program: "the coordinator"}).Kill(); err != nil {
		t.Fatal(err)
	}
	runs := []*lab.Run{holder, waiting, leased(b, bystander, "work elsewhere")}
	b.wait(runs...)
	b.succeeded(runs...)
	log := b.clean()
	b.resumed(b.written(log, "subnets", "bystander"), crash)
	if n := log.Succeeded(); n != 3+4 {
		t.Errorf("%d operations succeeded, want 7", n)
	}
	if now, err := b.CoordinatorPID(); err != nil || now == 0 || now == pid {
		t.Errorf("process %d serves after %d was killed (%v)", now, pid, err)
	}
	b.nothingLeft("the crash")
	for _, r := range runs {
		if strings.Contains(r.Stderr(), "unknown") {
			t.Errorf("%s thinks that an outcome is unknown", r.Name)
		}
	}
}
