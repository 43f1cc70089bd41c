// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// TestNetworkFileSystem: nobody connects, serves or makes anything where two
// machines might lead one journal, and people are told what to do instead.
func TestNetworkFileSystem(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, filepath.Join(home, "a", "b"), filepath.Join(link, "a", "b")} {
		o := Options{
			Dir: dir, Runtime: filepath.Join(base, "r"), Executable: filepath.Join(base, "never-started"),
			fileSystem: func(asked string) (string, bool, error) {
				if asked != resolved {
					t.Errorf("%s is asked for", asked)
				}
				return "nfs", true, nil
			},
		}
		_, connectErr := Connect(t.Context(), o)
		for what, err := range map[string]error{"Connect": connectErr, "Serve": Serve(t.Context(), o)} {
			var start *StartError
			var network *server.NetworkError
			if !errors.As(err, &start) || !errors.As(err, &network) || network.Type != "nfs" {
				t.Fatalf("%s: %v; want a start error about the network file system", what, err)
			}
			for _, want := range []string{"tfweaver serve --listen", "TFWEAVER_COORDINATOR", "XDG_STATE_HOME", dir, "nfs"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s does not name %s: %v", what, want, err)
				}
			}
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("something was made there: %v, %v", left, err)
	}
}

// TestUnknownFileSystem: what cannot be told is no reason to refuse.
func TestUnknownFileSystem(t *testing.T) {
	t.Parallel()
	for _, ask := range []server.FileSystem{
		func(string) (string, bool, error) { return "", false, errors.ErrUnsupported },
		func(string) (string, bool, error) { return "ext4", false, nil },
	} {
		o, err := Options{Dir: t.TempDir(), Runtime: t.TempDir(), fileSystem: ask}.complete()
		if err == nil {
			err = o.onNetwork()
		}
		if err != nil {
			t.Error(err)
		}
	}
}
