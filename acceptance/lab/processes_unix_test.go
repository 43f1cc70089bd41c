// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"os"
	"os/exec"
	"testing"
)

// TestProcessesAreFoundByTheirHome starts one with a home that nothing else has.
func TestProcessesAreFoundByTheirHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, err := processesWith("HOME=" + home)
	if err != nil || len(found) != 1 || found[0].PID != cmd.Process.Pid || found[0].Parent != os.Getpid() {
		t.Fatalf("found %+v, %v", found, err)
	}
	if err := found[0].Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if found, err := processesWith("HOME=" + home); err != nil || len(found) != 0 {
		t.Errorf("after its end: %+v, %v", found, err)
	}
}
