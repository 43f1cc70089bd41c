// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// gapLimit is ten times what is reached on an idle machine: tests share theirs.
const gapLimit = time.Second

// queued are latencies for tests of a queue: a network update that is long
// enough for everybody to line up behind it.
func queued(plug time.Duration) lab.CloudConfig {
	c := fast()
	c.Latencies["subnet"] = 700 * time.Millisecond
	c.Latencies["virtual_network.update"] = plug
	return c
}

// lineUp has n sessions apply a subnet each to one network while somebody else
// updates it, and returns the order in which they lined up.
func lineUp(b *bench, n int) (workspaces []*lab.Workspace, runs []*lab.Run, order []string) {
	b.t.Helper()
	plug := b.workspace("plug", group()+network("net", ""))
	b.succeeded(b.applyAll(plain, plug)...)
	for i := range n {
		workspaces = append(workspaces, b.workspace(fmt.Sprintf("s%d", i), subnet("net", fmt.Sprintf("s%d", i), i+1)))
	}
	if err := plug.Configure(group() + network("net", `round = "2"`)); err != nil {
		b.t.Fatal(err)
	}
	plugging := b.start(woven, plug, "apply", "-auto-approve", "-no-color")
	b.await("the network is being updated", func(l activity.Log) bool {
		return slices.ContainsFunc(l.Operations, func(o activity.Operation) bool {
			return lab.Is(o, "virtualNetworks", "net") && !o.Done()
		}) && len(l.Operations) == 3
	})
	for _, w := range workspaces {
		runs = append(runs, b.start(woven, w, "apply", "-auto-approve", "-json"))
	}
	order = b.awaitQueue(n)
	b.wait(append(runs, plugging)...)
	b.succeeded(append(runs, plugging)...)
	return workspaces, runs, order
}

// awaitQueue waits until n transactions wait, and returns the resources in the
// order of the queue, which is that of submission.
func (b *bench) awaitQueue(n int) (order []string) {
	b.t.Helper()
	err := b.AwaitStatus(b.ctx, fmt.Sprintf("%d transactions wait", n), func(s lab.Status) bool {
		order = nil
		for _, tx := range s.Transactions {
			if tx.Status == "queued" {
				order = append(order, tx.Address)
			}
		}
		return len(order) == n
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return order
}

// subnets are the subnet writes of a log in the order of their starts.
func subnets(log activity.Log) (operations []activity.Operation, addresses []string) {
	for _, o := range log.Operations {
		if strings.HasSuffix(o.ObjectType, "/subnets") {
			operations = append(operations, o)
			addresses = append(addresses, "simcloud_subnet."+o.ObjectID[strings.LastIndexByte(o.ObjectID, '/')+1:])
		}
	}
	return operations, addresses
}

// TestC25SixConflictingAppliesQueue: six sessions at once want to write one
// network. None fails, they run in the order in which they lined up, the next
// begins as soon as one ends, and all six take hardly longer than one after
// another (hashicorp/tfc-workflows-tooling issue 121).
func TestC25SixConflictingAppliesQueue(t *testing.T) {
	b := newBench(t, lab.Setup{Cloud: queued(12 * time.Second)})
	workspaces, _, order := lineUp(b, 6)
	operations, ran := subnets(b.clean())
	if diff := cmp.Diff(order, ran); diff != "" {
		t.Errorf("not first come, first served: -order of the queue +order in the cloud\n%s", diff)
	}
	gaps := lab.Gaps(operations)
	t.Logf("idle gaps %v", gaps)
	for _, gap := range gaps {
		if gap < 0 || gap > gapLimit {
			t.Errorf("a gap of %v between two writes of the network", gap)
		}
	}
	b.unchanged(workspaces...)
}

// TestC14TwelveProcessesAtOnce: twelve wrappers started together write rules of
// one security group. Nobody polls, nobody's patience runs out
// (google provider change 10786).
func TestC14TwelveProcessesAtOnce(t *testing.T) {
	const sessions = 12
	b := newBench(t, lab.Setup{Cloud: fast()})
	base := b.workspace("base", group()+securityGroup("sg"))
	b.succeeded(b.applyAll(plain, base)...)
	var workspaces []*lab.Workspace
	for n := range sessions {
		workspaces = append(workspaces, b.workspace(fmt.Sprintf("s%d", n), rule("sg", fmt.Sprintf("r%d", n), 1000+n)))
	}
	var runs []*lab.Run
	for _, w := range workspaces {
		runs = append(runs, b.start(woven, w, "apply", "-auto-approve", "-json"))
	}
	t.Logf("started within %v", runs[sessions-1].Started.Sub(runs[0].Started))
	b.wait(runs...)
	b.succeeded(runs...)
	log := b.clean()
	if n := log.Succeeded(); n != 2+sessions {
		t.Errorf("%d operations succeeded, want %d", n, 2+sessions)
	}
	waits := b.waited(runs)
	operation := log.Operations[len(log.Operations)-1].Duration()
	t.Logf("%d waits of up to %.2f s behind operations of %v", len(waits), lab.Percentile(waits, 1), operation)
	if p95, limit := lab.Percentile(waits, 0.95), sessions*(operation+gapLimit).Seconds(); p95 > limit {
		t.Errorf("95 of 100 waits take up to %.2f s, more than %.2f s", p95, limit)
	}
}

// waited are the times that calls of runs waited, in seconds.
func (b *bench) waited(runs []*lab.Run) (waits []float64) {
	b.t.Helper()
	for _, r := range runs {
		lines, err := lab.Lines(r.Stdout())
		if err != nil {
			b.t.Errorf("%s: %v", r.Name, err)
		}
		for _, l := range lines {
			if l.Type == lab.LineAdmitted && l.Waited != nil {
				waits = append(waits, *l.Waited)
			}
		}
	}
	return waits
}
