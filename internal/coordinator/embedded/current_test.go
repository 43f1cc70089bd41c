// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLateEndHarmsNobody: a leader that ends late takes back only what it has
// said itself.
func TestLateEndHarmsNobody(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Runtime: t.TempDir()}
	first := Current{Address: "unix://" + o.socket(1), PID: 11, Version: "1", Epoch: 1}
	second := Current{Address: "unix://" + o.socket(2), PID: 12, Version: "2", Epoch: 2}
	for _, c := range []Current{first, second} {
		if err := o.publish(c); err != nil {
			t.Fatal(err)
		}
	}
	o.unpublish(1)
	got, ok, err := o.current()
	if err != nil || !ok {
		t.Fatalf("the successor's word is gone: %v", err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Error(diff)
	}
	o.unpublish(2)
	if _, ok, err := o.current(); ok || err != nil {
		t.Errorf("it is still published, %v", err)
	}
	if entries, err := os.ReadDir(o.Dir); err != nil || len(entries) != 0 {
		t.Errorf("%v is left behind, %v", entries, err)
	}
}

// TestSpoiledHint: nobody depends on the file being whole.
func TestSpoiledHint(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	for _, text := range []string{"", "{", `{"pid":1}`, "\x00\x00"} {
		if err := os.WriteFile(o.path(currentName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, ok, err := o.current(); ok || err != nil {
			t.Errorf("%q reads as %+v, %v", text, c, err)
		}
	}
}

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
	if socket := o.socket(7); filepath.Dir(socket) != filepath.Join(runtime, "tfweaver") || !strings.HasSuffix(socket, "-7.sock") {
		t.Errorf("socket %s", socket)
	}
	if want := []string{"serve", "--embedded", "--dir=" + o.Dir, "--idle-exit=1m0s"}; !slices.Equal(o.Args, want) {
		t.Errorf("arguments %q; want %q", o.Args, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // is to be ignored
	t.Setenv("HOME", state)
	if dir, err := DefaultDir(); err != nil || !strings.HasPrefix(dir, state) {
		t.Errorf("DefaultDir = %s, %v", dir, err)
	}
}
