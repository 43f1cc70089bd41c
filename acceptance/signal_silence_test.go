// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// TestStoppedCoordinatorIsTold: a run whose coordinator was stopped says so, with the
// process and the way out, goes on when it goes on, and tells of it at the end.
func TestStoppedCoordinatorIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	hold := filepath.Join(t.TempDir(), "hold")
	run := b.start(woven, b.workspaceOf(b.FixtureWorkspace(b.ctx, "alone", stubborn("first", hold))), "apply", "-auto-approve", "-no-color")
	b.awaitOf(run, "the thing is being made", func(activity.Log) bool { return b.began("first") })
	pid, err := b.CoordinatorPID()
	if err != nil || pid == 0 {
		t.Fatalf("process %d, %v", pid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	thaw := func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(thaw)
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.awaitSaid(run, fmt.Sprintf("waiting for the coordinator of this machine (process %d), which has not answered since ", pid))
	b.awaitSaid(run, fmt.Sprintf("continue it with `kill -CONT %d`", pid))
	thaw()
	b.wait(run)
	b.succeeded(run)
	if !strings.Contains(run.Stderr(), "the coordinator did not answer for ") || strings.Contains(run.Stdout(), "has not answered") {
		t.Errorf("the end: %s", run.Stderr())
	}
}
