// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// TestSweepSparesOthers: only sockets of the same state folder are removed.
func TestSweepSparesOthers(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	o, other := Options{Dir: "/a", Runtime: runtime}, Options{Dir: "/b", Runtime: runtime}
	for _, path := range []string{o.socket(1), o.socket(2), o.socket(3), other.socket(1), filepath.Join(runtime, "notes")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.sweep(3)
	entries, err := os.ReadDir(runtime)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, filepath.Join(runtime, e.Name()))
	}
	want := []string{o.socket(3), other.socket(1), filepath.Join(runtime, "notes")}
	slices.Sort(want)
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}

// TestCredentialsStayWithTheRun: the coordinator outlives the run, so it gets
// nothing secret from it.
func TestCredentialsStayWithTheRun(t *testing.T) {
	t.Parallel()
	kept := keep([]string{
		"PATH=/bin", "HOME=/home/a", "Path=C:\\", "TZ=UTC", "AWS_SECRET_ACCESS_KEY=s", "ARM_CLIENT_SECRET=s",
		"TF_VAR_password=s", "GOOGLE_CREDENTIALS=s", "SSH_AUTH_SOCK=/x", "odd",
	})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/home/a", "Path=C:\\", "TZ=UTC"}, kept); diff != "" {
		t.Error(diff)
	}
}

// TestDefaults: an empty Options is that of the user.
func TestDefaults(t *testing.T) {
	state, runtime := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	o, err := Options{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(state, "tfweaver"); o.Dir != want {
		t.Errorf("state folder %s; want %s", o.Dir, want)
	}
	if socket := o.socket(7); filepath.Dir(socket) != filepath.Join(runtime, "tfweaver") || !strings.HasSuffix(socket, fmt.Sprintf("-7-%d.sock", os.Getpid())) {
		t.Errorf("socket %s", socket)
	}
	if want := []string{"serve", "--embedded", "--dir=" + o.Dir, "--idle-exit=1m0s"}; !slices.Equal(o.Args, want) {
		t.Errorf("arguments %q; want %q", o.Args, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // is to be ignored
	if dir, err := DefaultDir(); err != nil || !filepath.IsAbs(dir) || strings.Contains(dir, "relative") {
		t.Errorf("DefaultDir = %s, %v", dir, err)
	}
}

// TestLongRuntimeFolder: a folder that is too long for sockets is not used,
// and one that was asked for is refused before anything is made.
func TestLongRuntimeFolder(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	t.Setenv("XDG_RUNTIME_DIR", long)
	o := Options{Dir: t.TempDir()}
	if socket := o.socket(1 << 32); strings.HasPrefix(socket, long) || len(socket) > server.MaxSocketPath {
		t.Errorf("the socket is %s", socket)
	}
	o = Options{Dir: filepath.Join(t.TempDir(), "state"), Runtime: long}
	err := o.prepare()
	if err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") || !strings.Contains(err.Error(), "too long") {
		t.Errorf("prepare: %v", err)
	}
	if _, err := os.Stat(o.Dir); err == nil {
		t.Error("the state folder was made all the same")
	}
}

// TestFailureIsReadOnce: only the word of the process that was started counts.
func TestFailureIsReadOnce(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	o.confess(&StartError{Reason: "the disk is full"})
	if reason, ok := o.confession(os.Getpid()); !ok || reason != "the disk is full" {
		t.Errorf("confession = %q, %v", reason, ok)
	}
	if reason, ok := o.confession(os.Getpid() + 1); ok {
		t.Errorf("another process confesses %q", reason)
	}
	if err := errors.Join(o.forget(), o.forget()); err != nil {
		t.Fatal(err)
	}
	if reason, ok := o.confession(os.Getpid()); ok {
		t.Errorf("what was forgotten says %q", reason)
	}
}
