// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/lineup"
)

// gapLimit is ten times what is reached on an idle machine: tests share theirs.
const gapLimit = time.Second

// TestC25SixConflictingAppliesQueue: six sessions at once want to write one
// network. None fails, they run in the order in which they lined up, the next
// begins as soon as one ends, and all six take hardly longer than one after
// another (hashicorp/tfc-workflows-tooling issue 121).
func TestC25SixConflictingAppliesQueue(t *testing.T) {
	const sessions = 6
	b := newBench(t, lineup.Setup(12*time.Second, 700*time.Millisecond))
	r, err := lineup.Run(b.ctx, b.Experiment, sessions)
	if err != nil {
		t.Fatal(err)
	}
	b.clean()
	if diff := cmp.Diff(r.Queue, r.Ran); diff != "" {
		t.Errorf("not first come, first served: -order of the queue +order in the cloud\n%s", diff)
	}
	if r.Succeeded != sessions || len(r.Gaps) != sessions-1 {
		t.Errorf("%d of %d succeeded, with %d gaps between them", r.Succeeded, sessions, len(r.Gaps))
	}
	t.Logf("idle gaps %v; together %v, one by one %v", r.Gaps, r.Together, r.OneByOne)
	for _, gap := range r.Gaps {
		if gap < 0 || gap > gapLimit {
			t.Errorf("a gap of %v between two writes of the network", gap)
		}
	}
}

// TestC25SixTogetherTakeHardlyLongerThanOneByOne: what the six lose by starting
// together is bounded. The case allows a tenth; the test, on a machine that does
// other things too, a quarter. acceptance/measure prints the figure.
func TestC25SixTogetherTakeHardlyLongerThanOneByOne(t *testing.T) {
	const sessions = 6
	setup := lineup.Setup(time.Second, 2*time.Second)
	plainly := newBench(t, setup)
	oneByOne, err := lineup.OneByOne(plainly.ctx, plainly.Experiment, sessions)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, setup)
	together, err := lineup.Together(b.ctx, b.Experiment, sessions)
	if err != nil {
		t.Fatal(err)
	}
	b.clean()
	t.Logf("together %v, one by one %v", together, oneByOne)
	if together > oneByOne*5/4 {
		t.Errorf("six together take %v, one by one %v", together, oneByOne)
	}
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
