// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsage: what is asked for wrongly is told before anything is searched, with
// an exit code of its own.
func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-budget", "far"},
		{"-budget", "0"},
		{"-budget", "9223372036854775807"},
		{"bogus"},
		{"-limit", "-5"},
		{"-workers", "0"},
		{"-seed", "-1"},
		{"-config", "no such"},
		{"-json", broken},
		{"-json", "x", "-limit", "5"},
		{"-json", "x", "-config", "paper"},
		{"-replay", filepath.Join(dir, "nothing")},
		{"-replay", broken},
		{"-nonsense"},
		{"-h"},
	} {
		if code, _ := run(args, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("%v ends with %d", args, code)
		}
	}
}

// TestPart: a part of a budget ends well, although it cannot try everything.
func TestPart(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	code, err := run([]string{"-config", "no patience", "-limit", "500"}, &out, io.Discard)
	if code != 0 || err != nil || !strings.Contains(out.String(), "distinct states") {
		t.Errorf("%d, %v\n%s", code, err, &out)
	}
}

// TestReplay: a file with a history is made again.
func TestReplay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "finding")
	text := "I2 NoProviderOverlap: once\nno patience: there map[], links map[]\n  s0 (queue): t0=x;\n  plan 0\n  ask 0 (make-net of s0)\n\n# script\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code, err := run([]string{"-replay", file}, &out, io.Discard); code != 0 || err != nil || !strings.Contains(out.String(), "nothing breaks any more") {
		t.Errorf("%d, %v\n%s", code, err, &out)
	}
}
