// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package client_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
)

// dialVariable makes the test binary a user who dials that address and says
// what came of it.
const dialVariable = "TFWEAVER_TEST_DIAL"

// TestDenied: another user's coordinator is told from one that is not there.
func TestDenied(t *testing.T) {
	if address := os.Getenv(dialVariable); address != "" {
		_, err := client.Dial(within(t), address)
		wantError(t, "Dial", err, client.ErrDenied)
		return
	}
	t.Parallel()
	p := newPlace(t)
	defer p.serve()()
	path := strings.TrimPrefix(p.address, "unix://")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		_, err := client.Dial(within(t), p.address)
		wantError(t, "Dial", err, client.ErrDenied)
		return
	}
	// The administrator may do anything, so somebody else has to try.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	copied := dir + "/test"
	if err := os.WriteFile(copied, program, 0o755); err != nil { //nolint:gosec // another user runs it
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run=^TestDenied$") //nolint:gosec // this program
	cmd.Dir, cmd.Env = dir, append(os.Environ(), dialVariable+"="+p.address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("another user: %v\n%s", err, out)
	}
}
