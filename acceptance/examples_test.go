// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// example makes a workspace of a sub-folder of an example; the folder's name is
// the actor.
func (b *bench) example(name, folder string) *lab.Workspace {
	b.t.Helper()
	return b.workspaceOf(b.FromFolder(b.ctx, folder, filepath.Join(b.Lab.Module, "examples", name, folder)))
}

// TestExampleSharedNetwork: the teams and the owner of the network apply at once,
// and the owner cannot take the network away.
func TestExampleSharedNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	platform := b.example("shared-network", "platform")
	b.succeeded(b.applyAll(woven, platform)...)
	shop, search := b.example("shared-network", "shop"), b.example("shared-network", "search")
	owner := b.start(woven, platform, "apply", "-auto-approve", "-no-color", "-var=owner=network-team")
	b.succeeded(b.applyAll(woven, shop, search)...)
	b.wait(owner)
	b.succeeded(owner)
	if n := b.clean().Succeeded(); n != 3+1+2*5 {
		t.Errorf("%d operations succeeded, want 14", n)
	}
	b.unchanged(shop, search)
	run := b.tfweaver(platform, 1, "destroy", "-auto-approve", "-no-color")
	b.clean()
	said := unwrapped(run.Stderr())
	for _, want := range []string{"of shop", "of search", "Delete or detach"} {
		if !strings.Contains(said, want) {
			t.Errorf("the refused destroy does not say %q", want)
		}
	}
}

// TestExampleOneSecurityGroup: five rules of two teams under one change token.
func TestExampleOneSecurityGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	base := b.example("one-security-group", "base")
	b.succeeded(b.applyAll(woven, base)...)
	web, metrics := b.example("one-security-group", "web"), b.example("one-security-group", "metrics")
	b.succeeded(b.applyAll(woven, web, metrics)...)
	if n := b.clean().Succeeded(); n != 2+5 {
		t.Errorf("%d operations succeeded, want 7", n)
	}
	b.unchanged(base, web, metrics)
}

// TestExampleCapacity: one fleet is made whole, of the other nothing is.
func TestExampleCapacity(t *testing.T) {
	t.Parallel()
	b := newBench(t, quota(20))
	b.succeeded(b.applyAll(woven, b.example("capacity", "base"))...)
	web, batch := b.example("capacity", "web"), b.example("capacity", "batch")
	first := b.start(wovenFor("serve the shop"), web, "apply", "-auto-approve", "-no-color")
	b.awaitOf(first, "the first machine is being made", func(log activity.Log) bool { return len(ofType(log, "virtualMachines")) > 0 })
	second := b.start(wovenFor("the nightly batch"), batch, "apply", "-auto-approve", "-no-color")
	b.wait(first, second)
	b.succeeded(first)
	if n := len(ofType(b.clean(), "virtualMachines")); n != 3 || second.ExitCode != 1 {
		t.Errorf("%d machines, and the second one ends with %d", n, second.ExitCode)
	}
	says(t, "the refusal", second.Stderr(), "cores", "limit 20", "serve the shop")
	b.unchanged(web)
}

// TestExampleReplace: the cleaner's plan is not carried out on the machine that
// has taken the place of the one that it was made for.
func TestExampleReplace(t *testing.T) {
	t.Parallel()
	setup := lab.Setup{Cloud: fast()}
	setup.Cloud.Latencies["virtual_machine"] = time.Second
	b := newBench(t, setup)
	owner := b.example("replace", "owner")
	b.succeeded(b.applyAll(woven, owner)...)
	cleaner := b.example("replace", "cleaner")
	b.succeeded(b.applyAll(woven, cleaner)...)
	b.tfweaver(cleaner, 0, "plan", "-destroy", "-out=gone.tfplan", "-no-color")
	replace := b.start(wovenFor("move the worker to v2"), owner, "apply", "-auto-approve", "-no-color", "-var=image=v2")
	b.awaitOf(replace, "the worker is being replaced", func(log activity.Log) bool { return len(ofType(log, "virtualMachines")) > 1 })
	destroy := b.start(wovenFor("save what the worker costs"), cleaner, "apply", "-no-color", "gone.tfplan")
	b.wait(replace, destroy)
	b.succeeded(replace)
	if n := len(ofType(b.clean(), "virtualMachines")); n != 3 || destroy.ExitCode != 1 {
		t.Errorf("%d operations on the worker, and the cleaner ends with %d", n, destroy.ExitCode)
	}
	says(t, "the refusal", destroy.Stderr(), "out of date", "move the worker to v2")
}

// TestEveryExampleIsRun fails when somebody adds an example without a test.
func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	run := map[string]bool{"three-sessions": true, "shared-network": true, "one-security-group": true, "capacity": true, "replace": true}
	entries, err := os.ReadDir(filepath.Join(shared.Module, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !run[e.Name()] {
			t.Errorf("no test runs examples/%s", e.Name())
		}
	}
}
