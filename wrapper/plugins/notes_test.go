// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache", "protocols")
	n := NewNotes(dir)
	for hash, protocol := range map[string]int{"h1:a=": 5, "h1:b=": 6} {
		if got := n.Protocol(hash); got != 0 {
			t.Errorf("protocol %d before it is noted", got)
		}
		if err := n.Remember(hash, protocol); err != nil {
			t.Fatal(err)
		}
		if got := NewNotes(dir).Protocol(hash); got != protocol {
			t.Errorf("protocol %d, want %d", got, protocol)
		}
	}
	n.Forget("h1:a=")
	if n.Protocol("h1:a=") != 0 || n.Protocol("h1:b=") != 6 {
		t.Error("the wrong note was forgotten")
	}
	if n.Remember("", 6) != nil || n.Protocol("") != 0 {
		t.Error("something is noted of an unchecked package")
	}
}

// Damaged notes are none.
func TestDamagedNotes(t *testing.T) {
	t.Parallel()
	n := NewNotes(t.TempDir())
	for _, text := range []string{"", "{", `{"package":"h1:b=","protocol":6}`, `{"package":"h1:a=","protocol":7}`, `{"package":"h1:a="}`, `{"package":"h1:a=","protocol":6`} {
		writeFile(t, n.path("h1:a="), text, 0o600)
		if got := n.Protocol("h1:a="); got != 0 {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	writeFile(t, n.path("h1:a="), `{"package":"h1:a=","protocol":6}`, 0o600)
	if got := n.Protocol("h1:a="); got != 6 {
		t.Errorf("an undamaged one is read as %d", got)
	}
}

// Without a place for them nothing is noted, and nothing fails.
func TestNotesWithoutAPlace(t *testing.T) {
	t.Parallel()
	nowhere := NewNotes("")
	if err := nowhere.Remember("h1:a=", 6); err != nil || nowhere.Protocol("h1:a=") != 0 {
		t.Errorf("%v", err)
	}
	nowhere.Forget("h1:a=")
	blocked := NewNotes(filepath.Join(writeFile(t, filepath.Join(t.TempDir(), "file"), "", 0o600), "dir"))
	if err := blocked.Remember("h1:a=", 6); err == nil || blocked.Protocol("h1:a=") != 0 {
		t.Error("noted in a file")
	}
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	n := NewNotes(t.TempDir())
	for i := range maxNotes + 10 {
		if err := n.Remember(fmt.Sprintf("h1:%d", i), 6); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(n.dir)
	if err != nil || len(entries) > maxNotes {
		t.Errorf("%d notes, %v", len(entries), err)
	}
	if n.Protocol(fmt.Sprintf("h1:%d", maxNotes+9)) != 6 || n.Protocol("h1:0") != 0 {
		t.Error("others than the oldest were forgotten")
	}
}
