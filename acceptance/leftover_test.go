// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// nothingLeft fails the test unless the coordinator knows of no session and holds
// nothing, and no workspace has a state lock.
func (b *bench) nothingLeft(after string, workspaces ...*lab.Workspace) {
	b.t.Helper()
	s, err := b.Status(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(s.Sessions)+len(s.Transactions)+len(s.Locks)+len(s.Declared) != 0 {
		b.t.Errorf("after %s there is left: %+v", after, s)
	}
	for _, w := range workspaces {
		if _, err := os.Stat(filepath.Join(w.Dir, ".terraform.tfstate.lock.info")); !errors.Is(err, fs.ErrNotExist) {
			b.t.Errorf("after %s the state is locked: %v", after, err)
		}
	}
}

// TestC18SavedPlanAppliedTwice: the second apply of a saved plan is refused in
// the CLI's own words, and leaves nothing behind (terraform issue 28693).
func TestC18SavedPlanAppliedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspace("alone", group()+network("net", ""))
	b.tfweaver(w, 0, "plan", "-out=run.tfplan", "-no-color")
	b.nothingLeft("the plan", w)
	b.tfweaver(w, 0, "apply", "-no-color", "run.tfplan")
	b.nothingLeft("the first apply", w)
	again := b.tfweaver(w, 1, "apply", "-no-color", "run.tfplan")
	if !strings.Contains(again.Said(), "Saved plan is stale") {
		t.Error("the second apply does not say that the plan is stale")
	}
	b.nothingLeft("the second apply", w)
	if n := b.clean().Succeeded(); n != 2 {
		t.Errorf("%d operations succeeded, want 2", n)
	}
	b.unchanged(w)
}

// TestC18SavedPlanAppliedTwiceAtOnce: of two applies of one plan at one moment
// one does everything and the other nothing.
func TestC18SavedPlanAppliedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	cloud := fast()
	cloud.Latencies["resource_group"] = 2 * time.Second
	b := newBench(t, lab.Setup{Cloud: cloud})
	w := b.workspace("alone", group()+network("net", ""))
	b.tfweaver(w, 0, "plan", "-out=run.tfplan", "-no-color")
	runs := []*lab.Run{b.start(woven, w, "apply", "-no-color", "run.tfplan"), b.start(woven, w, "apply", "-no-color", "run.tfplan")}
	b.wait(runs...)
	if sum := runs[0].ExitCode + runs[1].ExitCode; sum != 1 {
		t.Errorf("exit codes %d and %d, want one 0 and one 1", runs[0].ExitCode, runs[1].ExitCode)
	}
	b.nothingLeft("both applies", w)
	if n := b.clean().Succeeded(); n != 2 {
		t.Errorf("%d operations succeeded, want 2", n)
	}
	b.unchanged(w)
}

// TestC18NothingIsLeftAfterAFailure goes through the ways in which a run ends
// with another exit code than 0 (terraform issues 22941 and 19296).
func TestC18NothingIsLeftAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	base := b.workspace("base", group()+network("net", ""))
	b.succeeded(b.applyAll(plain, base)...)
	w := b.workspace("alone", subnet("net", "s", 1))
	for _, c := range []struct {
		what, hcl string
		args      []string
	}{
		{"a syntax error", "resource {", []string{"apply", "-auto-approve"}},
		{"an unknown variable", subnet("net", "s", 1), []string{"apply", "-auto-approve", "-var=nobody=1"}},
		{"a plan that fails", `data "simcloud_resource_group" "g" { name = "nowhere" }` + "\n", []string{"plan"}},
		{"an apply that the cloud refuses", strings.ReplaceAll(subnet("net", "s", 1), "10.0.1.0", "10.9.1.0"), []string{"apply", "-auto-approve"}},
		{"an apply that nobody approves", subnet("net", "s", 1), []string{"apply"}},
		{"a plan file that is none", subnet("net", "s", 1), []string{"apply", "main.tf"}},
		{"a lost parent", subnet("nowhere", "s", 1), []string{"apply", "-auto-approve"}},
	} {
		if err := w.Configure(c.hcl); err != nil {
			t.Fatal(err)
		}
		b.tfweaver(w, 1, append(c.args, "-no-color")...)
		b.nothingLeft(c.what, w)
	}
	if n := b.log().Succeeded(); n != 2 {
		t.Errorf("%d operations succeeded, want those of the base alone", n)
	}
}

// chain is two subnets of one network, the second after the first.
func chain(network, first, second string) string {
	return subnet(network, first, 1) + subnet(network, second, 2, after("simcloud_subnet."+first))
}

// lease is the lease of sessions in tests that wait for its end: long enough for
// a machine that is busy with other tests.
const lease = 4 * time.Second

// leased is tfweaver with a short lease.
func leased(b *bench, w *lab.Workspace, objective string) *lab.Run {
	b.t.Helper()
	return b.start(wovenFor(objective), w, "apply", "-auto-approve", "-no-color", "-weaver-lease="+lease.String(), "-weaver-wait=1m")
}

// TestC18LostLeaseStopsBeforeTheNextCall: a run that was frozen for longer than
// its lease does not send its next call when it thaws.
func TestC18LostLeaseStopsBeforeTheNextCall(t *testing.T) {
	t.Parallel()
	cloud := fast()
	cloud.Latencies["subnet"] = 2 * time.Second
	b := newBench(t, lab.Setup{Cloud: cloud})
	b.succeeded(b.applyAll(plain, b.workspace("base", group()+network("net", "")))...)
	w := b.workspace("alone", chain("net", "first", "second"))
	run := leased(b, w, "make two subnets")
	b.awaitOf(run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	thaw, err := run.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	lost := b.AwaitStatus(b.ctx, "the lease has run out", func(s lab.Status) bool { return len(s.Sessions) == 0 })
	if err := errors.Join(lost, thaw()); err != nil {
		t.Fatal(err)
	}
	b.wait(run)
	if run.ExitCode != 1 {
		t.Errorf("exit code %d, want 1", run.ExitCode)
	}
	if lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
		t.Error("the second subnet was written without a lease")
	}
}
