// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// A kill -9 leaves no time to stop providers; they must not stay for ever.
func TestProviderEndsWithAKilledParent(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), orphanEnv+"="+plugintest.Executable(t))
	parent.Stderr = os.Stderr
	in, err := parent.StdinPipe() // never closed: it must not end by itself
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || pid == 0 {
		_ = parent.Process.Kill()
		t.Fatalf("process id %d of the provider: %v", pid, err)
	}
	defer func() {
		if alive(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	if !alive(pid) {
		t.Error("the provider does not run")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it says that it was killed
	eventually(t, "the provider ends", func() bool { return !alive(pid) })
}

// alive says whether a process runs. One that ended and that nobody has waited
// for yet does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}
