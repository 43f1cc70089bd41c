// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
// Beside it is something that whoever holds on does not finish.
func oneState(b *bench) *lab.Workspace {
	b.t.Helper()
	w := b.workspace("owner", `variable "round" {}

variable "hold" {
  default = "true"
}

resource "terraform_data" "hold" {
  triggers_replace = var.round
  provisioner "local-exec" {
    command = var.hold
  }
}
`+group()+network("net", "round = var.round"))
	b.terraform(as(w, "owner"), 0, "apply", "-auto-approve", "-no-color")
	return w
}

// holding starts an apply that is not finished before it is let go, and waits
// until it has come so far.
func holding(b *bench, start starter, w *lab.Workspace) (run *lab.Run, letGo func()) {
	b.t.Helper()
	w.Env = append(w.Env, "TF_VAR_hold=touch held; until test -e go; do sleep 0.05; done")
	run = b.start(start, w, "apply", "-auto-approve", "-no-color")
	err := lab.Await(b.ctx, w.Actor+" is at it", func() (bool, error) {
		_, err := os.Stat(filepath.Join(w.Dir, "held"))
		if run.Exited() {
			return false, fmt.Errorf("%s has ended", run.Name)
		}
		return err == nil, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return run, func() {
		b.t.Helper()
		if run.Exited() {
			b.t.Errorf("%s ended by itself: the test shows nothing", run.Name)
		}
		if err := w.Write("go", ""); err != nil {
			b.t.Fatal(err)
		}
		b.wait(run)
		b.succeeded(run)
	}
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
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	_, letGo := holding(b, wovenFor("open the shop"), as(w, "alice"))
	bob := as(w, "bob")
	bob.Env = append(bob.Env, "TF_VAR_round=alice")
	planner := b.start(woven, bob, "plan", "-no-color", "-detailed-exitcode")
	id := b.firstWaiting()
	says(t, "tfweaver status", b.tfweaver(bob, 0, "status").Stdout(), "The state of", "waiting for the state", `queued, place 1`)
	says(t, "tfweaver why", b.tfweaver(bob, 0, "why", id).Stdout(), "is being worked on by alice", "open the shop")
	says(t, "tfweaver locks", b.tfweaver(bob, 0, "locks").Stdout(), `terraform\.tfstate +X .*The state of`)
	letGo()
	b.wait(planner)
	b.succeeded(planner) // 0 is "no changes": the state of before would have had one
	says(t, "bob's plan", planner.Stderr(), `The state of \S+ \(workspace default\) is being worked on by alice \(.*'open the shop'.*\), who is applying`,
		`The run waited (\d+s|less than a second) for alice`)
	b.clean()
}

// TestStateIsRefusedWithItsHolder: who waits for as long as they said is told who
// works on the state, by an exit code that scripts can tell apart, and nothing
// was planned.
func TestStateIsRefusedWithItsHolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	_, letGo := holding(b, wovenFor("open the shop"), as(w, "alice"))
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
	letGo()
	if diff := cmp.Diff([]string{"owner", "alice"}, writers(b.clean())); diff != "" {
		t.Errorf("wrote the network: -want +got\n%s", diff)
	}
}

// TestInterruptWhileWaitingForTheState: Ctrl-C ends the wait, nothing was planned,
// and whoever comes next is not held up by the one who left.
func TestInterruptWhileWaitingForTheState(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	_, letGo := holding(b, woven, as(w, "alice"))
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
	letGo()
	b.wait(carol)
	b.succeeded(carol)
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
	alice := b.start(woven, as(w, "alice"), "apply", "-auto-approve", "-no-color")
	b.await("alice is at it", updating("alice"))
	if err := alice.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait(alice)
	bob := b.tfweaver(as(w, "bob"), 0, "plan", "-no-color", "-lock-timeout=20s")
	if took := bob.Elapsed(); took > 8*interruptLimit { // a lease is 30 seconds
		t.Errorf("bob waited %v for the dead", took)
	}
}

// TestTheHolderOfTerraformsLockIsNamed: plain Terraform has the lock. Whoever
// meets it is told who that is and since when, and that it is none of those who
// line up.
func TestTheHolderOfTerraformsLockIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := oneState(b)
	_, letGo := holding(b, plain, as(w, "mallory"))
	time.Sleep(time.Second) // for how long somebody has it is said from a second on
	native := b.terraform(as(w, "bob"), 1, "plan", "-no-color")
	for _, args := range [][]string{{"plan"}, {"apply", "-auto-approve"}} {
		bob := b.tfweaver(as(w, "bob"), 1, append(args, "-no-color")...)
		says(t, "what "+args[0]+" meets", bob.Stderr(), "Error acquiring the state lock", "The state is locked by somebody else",
			`\S+@\S+ has Terraform's own lock of the state for \d+s \(apply, version`, "none of the runs that line up", "force-unlock [0-9a-f-]{36}")
		if !strings.HasPrefix(bob.Stderr(), strings.TrimRight(native.Stderr(), "\n")) {
			t.Errorf("the CLI says\n%s\nand through tfweaver\n%s", native.Stderr(), bob.Stderr())
		}
	}
	letGo()
}

// TestDestroyEndsInItsOwnWords: what destroy prints, the last line too, is what
// the CLI alone prints, but for what changes with each run.
func TestDestroyEndsInItsOwnWords(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	const outputs = "\noutput \"kept\" {\n  value = 1\n}\n"
	native, ours := b.workspace("native", group()+outputs), b.workspace("ours", strings.ReplaceAll(group(), `"shared"`, `"shared2"`)+outputs)
	b.succeeded(b.applyAll(plain, native, ours)...)
	for _, options := range [][]string{{"-no-color", "-target=simcloud_resource_group.shared"}, {}, {"-json"}} {
		args := append([]string{"destroy", "-auto-approve"}, options...)
		want := b.terraform(native, 0, args...).Stdout()
		for i, o := range args {
			args[i] = strings.ReplaceAll(o, "shared", "shared2")
		}
		got := strings.ReplaceAll(b.tfweaver(ours, 0, args...).Stdout(), "shared2", "shared")
		if !strings.Contains(want, "Destroy complete!") || lastLine(got) != lastLine(want) {
			t.Errorf("%v: ends with\n%s\nand natively with\n%s", options, lastLine(got), lastLine(want))
		}
	}
}

// lastLine is the end of what a run printed from the last line of words on,
// without the time of a line of JSON.
func lastLine(text string) string {
	i := strings.LastIndex(strings.TrimRight(text, "\n\x1b[0m"), "\n")
	return timestamp.ReplaceAllString(text[i+1:], "")
}

var timestamp = regexp.MustCompile(`"@timestamp":"[^"]*"`)
