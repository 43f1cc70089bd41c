// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// store is a state server that outlives the experiments of a test.
func store(t *testing.T, logins map[string]string) *lab.StateStore {
	t.Helper()
	s, err := lab.StartStateStore(logins)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// on makes a workspace whose state lies in a store.
func (b *bench) on(s *lab.StateStore, state, actor, hcl string) *lab.Workspace {
	b.t.Helper()
	return b.workspaceOf(b.WorkspaceOn(b.ctx, s, state, actor, hcl))
}

// Who holds the state in these tests.
const (
	alicesIntent = "move the database to the new network"
	bobsPassword = "of-bob-alone"
	alicesRun    = "https://ci.example.org/runs/42"
	alicesLock   = `{"ID":"alice-ticket-42-7f3a","Operation":"OperationTypeApply","Who":"alice@ticket-42",` +
		`"Info":"` + alicesIntent + ", " + alicesRun + `","Version":"1.11.4","Created":"2026-11-30T20:00:00Z","Path":""}`
)

// TestForceUnlockPassesThrough: what the CLI says and does about the lock of
// somebody else is what it does without tfweaver. Terraform 1.11.4 does not tell
// a server whose lock to end, so that a server which wants to know refuses;
// OpenTofu does.
func TestForceUnlockPassesThrough(t *testing.T) {
	t.Parallel()
	s := store(t, nil)
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.on(s, "net", "bob", group())
	type outcome struct {
		code         int
		said, holder string
	}
	try := func(start starter, id string) outcome {
		s.Release("net")
		if err := s.Plant("net", alicesLock); err != nil {
			t.Fatal(err)
		}
		run := b.start(start, w, "force-unlock", "-force", id)
		b.wait(run)
		return outcome{run.ExitCode, run.Said(), s.Holder("net")}
	}
	for _, id := range []string{"alice-ticket-42-7f3a", "somebody-else"} {
		native, own := try(plain, id), try(woven, id)
		if native != own {
			t.Errorf("force-unlock %s: %+v, without tfweaver %+v", id, own, native)
		}
	}
	if native := try(plain, "alice-ticket-42-7f3a"); (native.holder == "") != (b.Lab.CLI.Product == "OpenTofu") {
		t.Errorf("%s ends a lock that it names, and left %q", b.Lab.CLI, native.holder)
	}
	b.nothingLeft("force-unlock")
}
