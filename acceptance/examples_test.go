// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
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

// TestEveryExampleIsRun fails when somebody adds an example without a test.
func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	run := map[string]bool{"three-sessions": true, "shared-network": true, "one-security-group": true}
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
