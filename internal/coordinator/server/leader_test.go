// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLateEndHarmsNobody: a leader that ends late takes back only what it has
// said itself.
func TestLateEndHarmsNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := Leader{Address: "unix:///run/1.sock", PID: 11, Version: "1", Epoch: 1}
	second := Leader{Address: "unix:///run/2.sock", PID: 12, Version: "2", Epoch: 2}
	twin := Leader{Address: "unix:///run/3.sock", PID: 13, Version: "2", Epoch: 2} // of a copy of the journal
	for _, l := range []Leader{first, second} {
		if err := publish(dir, l); err != nil {
			t.Fatal(err)
		}
	}
	unpublish(dir, first)
	unpublish(dir, twin)
	got, ok, err := ReadLeader(dir)
	if err != nil || !ok {
		t.Fatalf("the successor's word is gone: %v", err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Error(diff)
	}
	unpublish(dir, second)
	if _, ok, err := ReadLeader(dir); ok || err != nil {
		t.Errorf("it is still published, %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v is left behind, %v", entries, err)
	}
}

// TestSpoiledHint: nobody depends on the file being whole.
func TestSpoiledHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"pid":1}`, "\x00\x00"} {
		if err := os.WriteFile(filepath.Join(dir, currentName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, ok, err := ReadLeader(dir); ok || err != nil {
			t.Errorf("%q reads as %+v, %v", text, l, err)
		}
	}
}
