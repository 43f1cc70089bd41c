// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package plugins

import (
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
