// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWriteFigures(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for _, n := range []int{1, 2} {
		if err := WriteFigures(folder, "f.json", map[string]int{"n": n}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "f.json"))
	if err != nil || string(text) != "{\n  \"n\": 2\n}\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := WriteFigures(filepath.Join(folder, "f.json"), "f", 1); err == nil {
		t.Error("a file is taken for a folder")
	}
	if err := WriteFigures(folder, "f.json", func() {}); err == nil {
		t.Error("what has no form in JSON is written")
	}
}

func TestShowAndSince(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	Since(time.Now().Add(-time.Minute), &out)("round %d", 7)
	if err := Show(&out, "all of it", map[string]int{"n": 1}); err != nil {
		t.Fatal(err)
	}
	if text := strings.TrimSpace(out.String()); !strings.HasPrefix(text, "60.") || !strings.HasSuffix(text, "s  round 7\nall of it\n{\n  \"n\": 1\n}") {
		t.Errorf("%q", text)
	}
}
