// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// noneHolds fails the test unless the lock of a state is free and no session is
// left.
func (b *bench) noneHolds(s *lab.StateStore, state, after string) {
	b.t.Helper()
	b.nothingLeft(after)
	if holder := s.Holder(state); holder != "" {
		b.t.Errorf("after %s the state is locked by %s", after, holder)
	}
}

// locked fails the test unless somebody has had the lock of a state: a test of
// what is left shows nothing otherwise.
func locked(t *testing.T, s *lab.StateStore, state string) {
	t.Helper()
	for _, r := range s.Requests(state) {
		if r.Method == "LOCK" && r.Status == 200 {
			return
		}
	}
	t.Error("nobody ever had the lock: the test shows nothing")
}

// TestC18NothingIsLeftBehindHTTP: a plan that is applied twice, and what else ends
// with another exit code than 0, with the state on a server.
func TestC18NothingIsLeftBehindHTTP(t *testing.T) {
	t.Parallel()
	s := store(t, map[string]string{"alone": "a secret of alone"})
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.on(s, "net", "alone", group()+network("net", ""))
	b.tfweaver(w, 0, "plan", "-out=run.tfplan", "-no-color")
	b.tfweaver(w, 0, "apply", "-no-color", "run.tfplan")
	b.noneHolds(s, "net", "the first apply")
	again := b.tfweaver(w, 1, "apply", "-no-color", "run.tfplan")
	says(t, "the second apply", again.Said(), "Saved plan is stale")
	b.noneHolds(s, "net", "the second apply")
	for _, c := range []struct {
		what, hcl string
		args      []string
	}{
		{"a plan that fails", `data "simcloud_resource_group" "g" { name = "nowhere" }` + "\n", []string{"plan"}},
		{"an apply that the cloud refuses", group() + network("net", "") + strings.ReplaceAll(subnet("net", "s", 1), "10.0.1.0", "10.9.1.0"), []string{"apply", "-auto-approve"}},
		{"an apply that nobody approves", group() + network("net", `a = "b"`), []string{"apply"}},
		{"an apply with an unknown variable", group(), []string{"apply", "-auto-approve", "-var=nobody=1"}},
		{"an import of what is not there", group() + network("net", "") + network("no", ""), []string{"import", "simcloud_virtual_network.no", cloudPrefix + "virtualNetworks/no"}},
	} {
		if err := w.Configure(c.hcl); err != nil {
			t.Fatal(err)
		}
		b.tfweaver(w, 1, append(c.args, "-no-color")...)
		b.noneHolds(s, "net", c.what)
	}
	locked(t, s, "net")
	if n := b.log().Succeeded(); n != 2 {
		t.Errorf("%d operations succeeded, want those of the first apply alone", n)
	}
	if err := s.Chain("net"); err != nil {
		t.Error(err)
	}
}

// TestC18InterruptedBehindHTTP: Ctrl-C in the middle of an apply.
func TestC18InterruptedBehindHTTP(t *testing.T) {
	t.Parallel()
	s := store(t, nil)
	b := newBench(t, slowSubnets())
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	w := b.on(s, "net", "alone", chain("net", "first", "second"))
	run := leased(b, w, "make two subnets")
	b.awaitOf(run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	b.wait(run)
	if run.ExitCode == 0 || lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
		t.Errorf("exit code %d; a run that was interrupted goes on", run.ExitCode)
	}
	locked(t, s, "net")
	b.noneHolds(s, "net", "the interrupt")
}

// TestC18LostLeaseBehindHTTP: a run that was frozen for longer than its lease
// stops when it thaws, and gives the state back.
func TestC18LostLeaseBehindHTTP(t *testing.T) {
	t.Parallel()
	s := store(t, nil)
	cloud := fast()
	cloud.Latencies["subnet"] = 2 * time.Second
	b := newBench(t, lab.Setup{Cloud: cloud})
	if err := b.Cloud.Furnish(b.ctx, "net"); err != nil {
		t.Fatal(err)
	}
	w := b.on(s, "net", "alone", chain("net", "first", "second"))
	run := leased(b, w, "make two subnets")
	b.awaitOf(run, "the first subnet is being written", lab.Wrote("subnets", "first", activity.Accepted))
	thaw, err := run.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	lost := b.AwaitStatus(b.ctx, "the lease has run out", func(st lab.Status) bool { return len(st.Sessions) == 0 })
	if err := errors.Join(lost, thaw()); err != nil {
		t.Fatal(err)
	}
	b.wait(run)
	if run.ExitCode != 1 || lab.Wrote("subnets", "second", activity.Accepted)(b.log()) {
		t.Errorf("exit code %d; a run without a lease goes on", run.ExitCode)
	}
	locked(t, s, "net")
	if holder := s.Holder("net"); holder != "" {
		t.Errorf("the state is locked by %s", holder)
	}
	if st, err := b.Status(b.ctx); err != nil || len(st.Sessions) != 0 {
		t.Errorf("there are sessions left: %+v, %v", st.Sessions, err)
	}
}
