// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package plugins

import (
	"os"
	"syscall"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// The terminal sends Ctrl-C to the foreground process group, of which the
// provider must be no part.
func TestLaunchUsesOwnProcessGroup(t *testing.T) {
	t.Parallel()
	p, err := Launch(t.Context(), Command{Path: plugintest.Executable(t), Env: plugintest.Env(6, "")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if group, err := syscall.Getpgid(p.PID()); err != nil || group != p.PID() {
		t.Errorf("process %d is in group %d, %v", p.PID(), group, err)
	}
}

// TestSocketsLieWhereTheyAreToldTo: a provider removes its socket when it is
// asked to end, but nobody can ask after a kill -9 of it. Where the owner of the
// folder put it, it can be found.
func TestSocketsLieWhereTheyAreToldTo(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "tfw") // the name of the test is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sockets := func() int {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	env := append(plugintest.Env(6, ""), "PLUGIN_UNIX_SOCKET_DIR=/nonexistent")
	for _, c := range []struct {
		end  func(*Process) error
		left int
	}{
		{func(p *Process) error { p.Kill(); return nil }, 0},
		{func(p *Process) error { return syscall.Kill(p.PID(), syscall.SIGKILL) }, 1},
	} {
		p, err := Launch(t.Context(), Command{Path: plugintest.Executable(t), Env: env, SocketDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		if n := sockets(); n != 1 {
			t.Errorf("%d sockets while the provider runs, want its own", n)
		}
		if err := c.end(p); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the provider ends", p.Exited)
		if n := sockets(); n != c.left {
			t.Errorf("%d sockets are left, want %d", n, c.left)
		}
	}
}
