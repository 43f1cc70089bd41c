// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
)

// TestLookMakesNothing: where nothing was ever coordinated it stays that way.
func TestLookMakesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(stateDir(t), "state")
	p, err := embedded.Look(options(dir, "1m"))
	if err != nil || p.Dir != dir || p.Size >= 0 || p.Leader != nil || p.Trouble != nil {
		t.Errorf("Look = %+v, %v", p, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the state folder was made")
	}
}

// TestLookFindsTheLeader, and leaves it alone.
func TestLookFindsTheLeader(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	connect(t, dir, "1m")
	p, err := embedded.Look(options(dir, "1m"))
	if err != nil || p.Leader == nil || p.Leader.PID == 0 || p.Size <= 0 || p.Trouble != nil {
		t.Errorf("Look = %+v, %v", p, err)
	}
}

// TestLookForeseesTrouble: what would stop a run is known without trying.
func TestLookForeseesTrouble(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{dir: "chmod 700", file: "XDG_STATE_HOME", filepath.Join(file, "below"): "XDG_STATE_HOME"} {
		p, err := embedded.Look(options(place, "1m"))
		var start *embedded.StartError
		if err != nil || !errors.As(p.Trouble, &start) || !strings.Contains(p.Trouble.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", place, p.Trouble, err, want)
		}
		if _, connectErr := embedded.Connect(within(t), options(place, "1m")); connectErr == nil {
			t.Errorf("%s: a run goes on", place)
		}
	}
}
