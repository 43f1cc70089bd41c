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
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// oneState is a workspace whose network carries a tag that is a variable, so that
// everybody who applies it has something to change. The network is there already.
func oneState(b *bench) *lab.Workspace {
	b.t.Helper()
	w := b.workspace("owner", `variable "round" {}
`+group()+network("net", "round = var.round"))
	b.terraform(as(w, "owner"), 0, "apply", "-auto-approve", "-no-color")
	return w
}

// as is a workspace in another's hands: the same folder, the same state.
func as(w *lab.Workspace, actor string) *lab.Workspace {
	other := *w
	other.Actor = actor
	other.Env = append(slices.Clone(w.Env), "TF_VAR_round="+actor)
	return &other
}

// updating says whether somebody's update of the network has begun.
func updating(actor string) func(activity.Log) bool {
	return func(log activity.Log) bool {
		return slices.ContainsFunc(log.Operations, func(o activity.Operation) bool {
			return o.Actor == actor && lab.Is(o, "virtualNetworks", "net")
		})
	}
}

// writers are those who wrote the network, in order.
func writers(log activity.Log) (actors []string) {
	for _, o := range log.Operations {
		if lab.Is(o, "virtualNetworks", "net") {
			actors = append(actors, o.Actor)
		}
	}
	return actors
}

// lined are the actors in the order in which they lined up for the state.
func lined(b *bench) (actors []string) {
	b.t.Helper()
	j, err := b.Journal(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range j.Records {
		c, ok := r.Command.(admission.Submit)
		if ok && c.Request.Type == conflict.StateType {
			x, _ := j.State.Session(c.Request.Session)
			actors = append(actors, x.Actor)
		}
	}
	return actors
}

// TestC25SixAppliesOfOneState: six people apply one state at once. Nobody is
// refused, nobody's plan is stale, and they go in the order in which they came.
func TestC25SixAppliesOfOneState(t *testing.T) {
	const people = 6
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	var runs []*lab.Run
	for i := range people {
		runs = append(runs, b.start(woven, as(w, fmt.Sprintf("p%d", i)), "apply", "-auto-approve", "-no-color"))
	}
	b.wait(runs...)
	b.succeeded(runs...)
	log := b.clean()
	order := append([]string{"owner"}, lined(b)...)
	if diff := cmp.Diff(order, writers(log)); diff != "" {
		t.Errorf("not first come, first served: -order of the queue +order in the cloud\n%s", diff)
	}
	for _, r := range runs {
		if strings.Contains(r.Said(), "stale") || strings.Contains(r.Said(), "Planning again") {
			t.Errorf("%s was planned in somebody's way:\n%s", r.Name, r.Said())
		}
	}
	b.unchanged(as(w, order[len(order)-1]))
}

// TestSixPlainAppliesOfOneStateAreNotAllServed is the control: Terraform alone
// turns all but one of those away who come at once.
func TestSixPlainAppliesOfOneStateAreNotAllServed(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	var runs []*lab.Run
	for i := range 6 {
		runs = append(runs, b.start(plain, as(w, fmt.Sprintf("p%d", i)), "apply", "-auto-approve", "-no-color"))
	}
	b.wait(runs...)
	if !slices.ContainsFunc(runs, func(r *lab.Run) bool { return r.ExitCode != 0 }) {
		t.Error("six plain runs of one state all succeed: the test of the queue shows nothing")
	}
}

// TestPlanWaitsBehindApply: a plan waits for whoever applies the same state, is
// told for whom, and shows what is true afterwards.
func TestPlanWaitsBehindApply(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowUpdate())
	w := oneState(b)
	alice := b.start(wovenFor("open the shop"), as(w, "alice"), "apply", "-auto-approve", "-no-color")
	b.await("alice is at it", updating("alice"))
	bob := as(w, "bob")
	bob.Env = append(bob.Env, "TF_VAR_round=alice")
	planner := b.start(woven, bob, "plan", "-no-color", "-detailed-exitcode")
	id := b.firstWaiting()
	says(t, "tfweaver status", b.tfweaver(bob, 0, "status").Stdout(), "The state of", "waiting for the state", `queued, place 1`)
	says(t, "tfweaver why", b.tfweaver(bob, 0, "why", id).Stdout(), "is being worked on by alice", "open the shop")
	says(t, "tfweaver locks", b.tfweaver(bob, 0, "locks").Stdout(), `terraform\.tfstate +X .*The state of`)
	b.wait(alice, planner)
	b.succeeded(alice, planner) // 0 is "no changes": the state of before would have had one
	says(t, "bob's plan", planner.Stderr(), `The state of \S+ \(workspace default\) is being worked on by alice \(.*'open the shop'.*\), who is applying`,
		`The run waited \d+s for alice`)
	b.clean()
}

func slowUpdate() lab.Setup {
	cloud := fast()
	cloud.Latencies["virtual_network.update"] = 5 * time.Second
	return lab.Setup{Cloud: cloud}
}

// TestStateIsRefusedWithItsHolder: who waits for as long as they said is told who
// works on the state, by an exit code that scripts can tell apart, and nothing
// was planned.
func TestStateIsRefusedWithItsHolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowUpdate())
	w := oneState(b)
	alice := b.start(wovenFor("open the shop"), as(w, "alice"), "apply", "-auto-approve", "-no-color")
	b.await("alice is at it", updating("alice"))
	bob := b.tfweaver(as(w, "bob"), 75, "apply", "-auto-approve", "-no-color", "-weaver-wait=1s", "-weaver-exit-codes")
	says(t, "the refusal", bob.Stderr(), "The state is in use: waited too long", "is being worked on by alice", "open the shop", "waited 1s", "-weaver-wait", "was in use")
	if bob.Stdout() != "" {
		t.Errorf("bob planned:\n%s", bob.Stdout())
	}
	at := b.tfweaver(as(w, "carol"), 1, "plan", "-no-color", "-weaver-wait=0s")
	says(t, "the refusal at once", at.Stderr(), "The state is in use by another run", "alice")
	free := b.tfweaver(as(w, "dave"), 0, "plan", "-no-color", "-lock=false", "-refresh=false")
	if strings.Contains(free.Stderr(), "alice") {
		t.Errorf("a plan without the lock waits for one:\n%s", free.Stderr())
	}
	if alice.Exited() {
		t.Error("alice was done before the others were refused: the test shows nothing")
	}
	b.wait(alice)
	b.succeeded(alice)
	if diff := cmp.Diff([]string{"owner", "alice"}, writers(b.clean())); diff != "" {
		t.Errorf("wrote the network: -want +got\n%s", diff)
	}
}

// TestInterruptWhileWaitingForTheState: Ctrl-C ends the wait, nothing was planned,
// and whoever comes next is not held up by the one who left.
func TestInterruptWhileWaitingForTheState(t *testing.T) {
	t.Parallel()
	b := newBench(t, slowUpdate())
	w := oneState(b)
	alice := b.start(woven, as(w, "alice"), "apply", "-auto-approve", "-no-color")
	b.await("alice is at it", updating("alice"))
	bob := b.start(woven, as(w, "bob"), "apply", "-auto-approve", "-no-color")
	b.firstWaiting()
	carol := b.start(woven, as(w, "carol"), "apply", "-auto-approve", "-no-color")
	begin := time.Now()
	if err := bob.Interrupt(); err != nil {
		t.Fatal(err)
	}
	b.wait(bob)
	if took := time.Since(begin); took > interruptLimit || bob.ExitCode != 1 || bob.Stdout() != "" {
		t.Errorf("exit code %d after %v:\n%s", bob.ExitCode, took, bob.Said())
	}
	b.wait(alice, carol)
	b.succeeded(alice, carol)
	if diff := cmp.Diff([]string{"owner", "alice", "carol"}, writers(b.clean())); diff != "" {
		t.Errorf("wrote the network: -want +got\n%s", diff)
	}
}

// TestStateOfTheDeadIsFree: who is killed while they hold the state holds nobody
// up.
func TestStateOfTheDeadIsFree(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	alice, err := as(w, "alice").StartTfweaver(b.ctx, "apply", "-auto-approve", "-no-color")
	if err != nil {
		t.Fatal(err)
	}
	b.await("alice is at it", updating("alice"))
	if err := alice.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait(alice)
	bob := b.tfweaver(as(w, "bob"), 0, "plan", "-no-color", "-lock-timeout=20s")
	if took := bob.Elapsed(); took > interruptLimit*5 {
		t.Errorf("bob waited %v for the dead", took)
	}
}
