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

// TestSignalFewFiles: 64 open files, as small as any system allows, are enough for
// a run.
func TestSignalFewFiles(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 300*time.Millisecond)
	w := b.workspace("alone", chain("left", "first", "second"))
	if run := b.shell(w, true, "ulimit -n 64; exec $CLI apply -auto-approve -no-color"); run.Status() != 0 {
		t.Errorf("exit status %d, want 0", run.Status())
	}
	b.clean()
	b.nothingLeft("the end", w)
	b.unchanged(w)
}

// fileLimit is what a process may write to one file, in blocks of 1,024 bytes as
// bash counts them: a disk that is full for it, without a disk.
const fileLimit = "ulimit -f "

// TestSignalDiskFullForTheRun: the plan file or the state cannot be written. The
// run fails as plain Terraform does, and nothing is held after that.
func TestSignalDiskFullForTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, hcl string }{
		"plan file": {fileLimit + "1; ", subnet("left", "first", 1)},
		// A state of more than 2 MB, of which the plan before it, being compressed,
		// has little.
		"state": {fileLimit + "1200; ", subnet("left", "first", 1) + `resource "terraform_data" "large" {
  input      = join("", [for n in range(1000) : join("", [for m in range(64) : "0123456789abcdef0123456789abcdef"])])
  depends_on = [simcloud_subnet.first]
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inTheWay(t, 300*time.Millisecond)
			w := b.workspace("alone", c.hcl)
			// The coordinator is there already, and has a disk of its own.
			b.tfweaver(w, 0, "plan", "-no-color")
			run := b.shell(w, true, c.limit+"exec $CLI apply -auto-approve -no-color")
			if run.Status() == 0 {
				t.Error("the run says success")
			}
			b.noProcesses()
			b.noFolders()
			s, err := b.Status(b.ctx)
			if err != nil || len(s.Sessions)+len(s.Locks)+len(s.Transactions) != 0 {
				t.Errorf("left is %+v, %v", s, err)
			}
			if name == "plan file" {
				if lab.Wrote("subnets", "first", activity.Accepted)(b.log()) {
					t.Error("a plan that could not be written was applied")
				}
				b.usable(w)
				return
			}
			b.recovered(w)
		})
	}
}

// recovered fails the test unless what was made is in the state, or in the file that
// Terraform writes when it cannot write the state.
func (b *bench) recovered(w *lab.Workspace) {
	b.t.Helper()
	for _, name := range []string{"terraform.tfstate", "errored.tfstate"} {
		text, err := os.ReadFile(filepath.Join(w.Dir, name))
		if err == nil && strings.Contains(string(text), "/subnets/first") {
			return
		}
	}
	b.t.Error("nothing is known of the subnet")
}

// TestSignalDiskFullForTheCoordinator: the journal cannot be written any more in
// the middle of a run. What was sent is waited for and in the state, nothing more is
// sent, and the next coordinator goes on.
func TestSignalDiskFullForTheCoordinator(t *testing.T) {
	t.Parallel()
	b := inTheWay(t, 300*time.Millisecond)
	w := b.workspace("alone", chain("left", "first", "second"))
	run := b.shell(w, true, fileLimit+"16; exec $CLI apply -auto-approve -no-color -weaver-lease="+lease.String())
	if text, err := os.ReadFile(filepath.Join(b.StateDir(), "serve.log")); err != nil || !strings.Contains(string(text), "file too large") && run.Status() == 0 {
		t.Fatalf("the journal was not full (%v): nothing is shown", err)
	}
	if run.Status() == 0 {
		t.Error("the run says success")
	}
	if !strings.Contains(run.Stderr(), "coordinator") {
		t.Error("nothing is said about the coordinator")
	}
	b.noProcesses()
	again := b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color", "-weaver-lease="+lease.String())
	_ = again
	b.clean()
	b.unchanged(w)
}
