// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestSenderOfAProcess(t *testing.T) {
	t.Parallel()
	launched := func(command Command) Sender {
		t.Helper()
		p, err := Launch(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		if got := p.Sender(); got.PID != p.PID() {
			t.Errorf("sender is process %d, want %d", got.PID, p.PID())
		}
		return p.Sender()
	}
	program, env := plugintest.Executable(t), plugintest.Env(6, "")
	if s := launched(Command{Path: program, Env: env}); !s.Known() {
		t.Errorf("the provider is not known: %+v", s)
	}
	if s := launched(Command{Path: program, Env: env, Unverified: true}); s.Known() {
		t.Errorf("an override is known: %+v", s)
	}
	script := writeFile(t, filepath.Join(t.TempDir(), "script"), "#!/bin/sh\n"+program+"\n", 0o700)
	if s := launched(Command{Path: script, Env: env}); s.Known() {
		t.Errorf("what a script starts is known: %+v", s)
	}
}

// The program's name stands in /proc/PID/stat as it is.
func TestStartOfAProgramWithAnOddName(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(writeFile(t, filepath.Join(t.TempDir(), "a) b (c"), string(program), 0o700), "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	}()
	checkIdentity(t, cmd.Process.Pid)
}

// form is BOOT/NAMESPACE/TICKS.
var form = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/[0-9]+/[0-9]+$`)

func checkIdentity(t *testing.T, pid int) {
	t.Helper()
	got, ok := startOf(pid)
	if !ok || !form.MatchString(got) {
		t.Fatalf("process %d began at %q", pid, got)
	}
	own, _ := startOf(os.Getpid())
	if path.Dir(got) != path.Dir(own) || pid != os.Getpid() && got < own && len(got) <= len(own) {
		t.Errorf("process %d began at %q, the test at %q", pid, got, own)
	}
}

func TestSenderThatIsGone(t *testing.T) {
	t.Parallel()
	checkIdentity(t, os.Getpid())
	if got, ok := startOf(1 << 30); ok {
		t.Errorf("nobody began at %q", got)
	}
}
