// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// abandoned makes a folder such as a killed process leaves, on any system.
func abandoned(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, path, "plan")
	fill(t, path, "held") // what Windows looks at
}

// TestSweepKeepsWhatIsNotOurs: temporary files are everybody's, and a folder
// with a similar name holds the sockets of coordinators.
func TestSweepKeepsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, name := range []string{"tfweaver-1000", "tfweaver-run-", "tfweaver-run-7a", "tfweaver-run-a7", "tfweaver-run", "plugin7"} {
		abandoned(t, filepath.Join(parent, name))
	}
	file := filepath.Join(parent, prefix+"8")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(parent, prefix+"7")
	abandoned(t, dead)
	sweep(parent)
	if exists(t, dead) {
		t.Error("the abandoned folder is left")
	}
	for _, e := range before {
		if !exists(t, filepath.Join(parent, e.Name())) {
			t.Errorf("%s was removed", e.Name())
		}
	}
}

// TestSweepIsBounded: one run does not clear up for hundreds, but the next ones
// do.
func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	const dead = mostRemoved + 3
	for i := range dead {
		abandoned(t, filepath.Join(parent, prefix+strconv.Itoa(i)))
	}
	for _, want := range []int{dead - mostRemoved, 0, 0} {
		sweep(parent)
		left, err := os.ReadDir(parent)
		if err != nil || len(left) != want {
			t.Fatalf("%d are left, %v; want %d", len(left), err, want)
		}
	}
}
