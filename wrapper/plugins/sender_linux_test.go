// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
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

// A coordinator has to understand what it is told.
func checkIdentity(t *testing.T, pid int) {
	t.Helper()
	want, err := liveness.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := startOf(pid); !ok || got != want.Started {
		t.Errorf("process %d began at %q, coordinators say %q", pid, got, want.Started)
	}
	unknown := coordinator.Process{PID: pid, Started: UnknownStart}
	if fate := liveness.Look(unknown); fate != liveness.Unknown {
		t.Errorf("a sender that is not known is %s", fate)
	}
}

func TestStartOfNobody(t *testing.T) {
	t.Parallel()
	checkIdentity(t, os.Getpid())
	if got, ok := startOf(1 << 30); ok {
		t.Errorf("nobody began at %q", got)
	}
}
