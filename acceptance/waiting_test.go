// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// busyNetwork has alice write a subnet for some seconds, and returns her run and
// the workspace of bob, who has another subnet for the same network.
func busyNetwork(b *bench) (alice *lab.Run, bob *lab.Workspace) {
	b.t.Helper()
	owner := b.workspace("owner", group()+network("net", ""))
	b.terraform(owner, 0, "apply", "-auto-approve", "-no-color")
	bob = b.workspace("bob", subnet("net", "b", 2))
	alice = b.start(wovenFor("open the shop"), b.workspace("alice", subnet("net", "a", 1)), "apply", "-auto-approve", "-no-color")
	b.await("alice's subnet is being written", lab.Wrote("subnets", "a", activity.Accepted))
	return alice, bob
}

func busy() lab.Setup {
	cloud := fast()
	cloud.Latencies["subnet"] = 6 * time.Second
	return lab.Setup{Cloud: cloud}
}

// firstWaiting waits until a transaction waits, and returns its id.
func (b *bench) firstWaiting() (id string) {
	b.t.Helper()
	err := b.AwaitStatus(b.ctx, "a transaction waits", func(s lab.Status) bool {
		for _, tx := range s.Transactions {
			if tx.Status == "queued" {
				id = tx.ID
			}
		}
		return id != ""
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// says fails the test unless a text matches all expressions.
func says(t *testing.T, what, text string, expressions ...string) {
	t.Helper()
	text = unwrapped(text)
	for _, e := range expressions {
		if !regexp.MustCompile(e).MatchString(text) {
			t.Errorf("%s does not say %q:\n%s", what, e, text)
		}
	}
}

// TestWaitingTellsWhoAndWhatFor: whoever waits is told at once for whom, what
// for, and at which place; so is whoever asks; and the summary says it again.
func TestWaitingTellsWhoAndWhatFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, busy())
	alice, bob := busyNetwork(b)
	waiter := b.start(woven, bob, "apply", "-auto-approve", "-no-color")
	id := b.firstWaiting()
	says(t, "tfweaver why", b.tfweaver(bob, 0, "why", id).Stdout(), `simcloud_subnet\.b`, "alice", "open the shop")
	says(t, "tfweaver status", b.tfweaver(bob, 0, "status").Stdout(), "alice", "bob", "open the shop")
	says(t, "tfweaver locks", b.tfweaver(bob, 0, "locks").Stdout(), "(?i)virtualnetworks/net", "alice")
	b.wait(alice, waiter)
	b.succeeded(alice, waiter)
	says(t, "bob's run", waiter.Stderr(),
		`simcloud_subnet\.b waits`, "alice", "'open the shop'", "(?i)queue place 1", "tfweaver why "+id,
		`simcloud_subnet\.b waited \d+s for alice`, `Coordinated with 1 other session`)
	b.clean()
}

// TestNoWait: who does not want to wait is refused at once, by an exit code that
// scripts can tell apart if they ask for it, and nothing is sent.
func TestNoWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, busy())
	alice, bob := busyNetwork(b)
	refused := b.tfweaver(bob, 1, "apply", "-auto-approve", "-no-color", "-weaver-wait=0s")
	says(t, "the refusal", refused.Said(), `simcloud_subnet\.b`, "alice", "open the shop")
	b.tfweaver(bob, 75, "apply", "-auto-approve", "-no-color", "-weaver-wait=0s", "-weaver-exit-codes")
	if alice.Exited() {
		t.Error("alice was done before bob was refused: the test shows nothing")
	}
	b.wait(alice)
	b.succeeded(alice)
	for _, o := range b.clean().Operations {
		if o.Actor == "bob" {
			t.Errorf("bob's %s was sent", o.Name)
		}
	}
}

// interruptLimit is how long an interrupted run may take to end; it is far less
// than what it would have to wait.
const interruptLimit = 4 * time.Second

// TestInterruptWhileWaiting: Ctrl-C ends the wait, nothing of the run was sent,
// and whoever it waited for is not disturbed.
func TestInterruptWhileWaiting(t *testing.T) {
	t.Parallel()
	b := newBench(t, busy())
	alice, bob := busyNetwork(b)
	waiter := b.start(woven, bob, "apply", "-auto-approve", "-no-color")
	b.firstWaiting()
	begin := time.Now()
	if err := waiter.Interrupt(); err != nil {
		t.Fatal(err)
	}
	b.wait(waiter)
	if took := time.Since(begin); took > interruptLimit || waiter.ExitCode != 1 {
		t.Errorf("exit code %d after %v", waiter.ExitCode, took)
	}
	b.wait(alice)
	b.succeeded(alice)
	if lab.Wrote("subnets", "b", activity.Accepted)(b.clean()) {
		t.Error("the interrupted run wrote its subnet")
	}
	left, err := bob.Resources(b.ctx)
	if err != nil || len(left) != 0 {
		t.Errorf("in bob's state: %v, %v", left, err)
	}
	err = b.AwaitStatus(b.ctx, "nothing is held", func(s lab.Status) bool { return len(s.Transactions) == 0 && len(s.Sessions) == 0 })
	if err != nil {
		t.Error(err)
	}
}

// TestIndependentWorkNeverWaits: sessions on networks of their own are all in the
// cloud at the same time, and nobody is told to wait.
func TestIndependentWorkNeverWaits(t *testing.T) {
	t.Parallel()
	cloud := fast()
	cloud.Latencies["resource_group"] = 8 * time.Second
	b := newBench(t, lab.Setup{Cloud: cloud})
	var workspaces []*lab.Workspace
	for _, name := range []string{"one", "two", "three"} {
		workspaces = append(workspaces, b.workspace(name, strings.ReplaceAll(group(), `"shared"`, `"`+name+`"`)))
	}
	runs := b.applyAll(func(w *lab.Workspace, ctx context.Context, args ...string) (*lab.Run, error) {
		return w.StartTfweaver(ctx, append(args, "-json")...)
	}, workspaces...)
	b.succeeded(runs...)
	operations := b.clean().Operations
	for _, o := range operations {
		for _, other := range operations {
			if !o.Overlaps(other) {
				t.Errorf("%s and %s follow one another", o.ObjectID, other.ObjectID)
			}
		}
	}
	if waits := b.waited(runs); len(waits) != 0 {
		t.Errorf("somebody waited: %v", waits)
	}
}
