// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	path, env := plugintest.Executable(t), plugintest.Env(6, "")
	before, err := strconv.ParseUint(startOf(os.Getpid()), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	s := launched(Command{Path: path, Env: env})
	if started, err := strconv.ParseUint(s.Started, 10, 64); err != nil || started < before || !s.Known() {
		t.Errorf("the provider began at %q, the test at %d", s.Started, before)
	}
	if s := launched(Command{Path: path, Env: env, Unverified: true}); s.Known() {
		t.Errorf("an override is known: %+v", s)
	}
	script := writeFile(t, filepath.Join(t.TempDir(), "script"), "#!/bin/sh\n"+path+"\n", 0o700)
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
	mine, err := strconv.ParseUint(startOf(os.Getpid()), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if started, err := strconv.ParseUint(startOf(cmd.Process.Pid), 10, 64); err != nil || started < mine {
		t.Errorf("it began at %q, the test at %d", startOf(cmd.Process.Pid), mine)
	}
	if got := startOf(1 << 30); got != "" {
		t.Errorf("nobody began at %q", got)
	}
}
