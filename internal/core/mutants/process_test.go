// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mutants

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startsChildren makes the test binary a program that runs a command, which
// starts another.
const startsChildren = "MUTANTS_TEST_STARTS_CHILDREN"

func TestMain(m *testing.M) {
	if os.Getenv(startsChildren) == "" {
		os.Exit(m.Run())
	}
	cmd := exec.CommandContext(context.Background(), "sh", "-c", "sleep 300 & echo runs; sleep 300")
	cmd.Stdout = os.Stdout
	alone(cmd)
	if err := complete(cmd); err != nil {
		os.Exit(1)
	}
}

// TestNothingOutlivesAKill: what a command has started ends too when this
// program is killed.
func TestNothingOutlivesAKill(t *testing.T) {
	t.Parallel()
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Env = append(os.Environ(), startsChildren+"=1")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	time.Sleep(100 * time.Millisecond) // until there is a guard
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, lines) // until nobody can write any more
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("something still runs")
	}
	_ = out.Close()
	_ = program.Wait()
}

// TestSweep: only folders of runs that are over are removed.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	lay(t, dir, map[string]string{"mutants-1-1/a/b": "", "mutants-2-2/a": "", "mutants-3-3/a": "", "others-1-1/a": "", "mutants-x/a": ""})
	for name, age := range map[string]time.Duration{"mutants-1-1": time.Hour, "mutants-2-2": time.Hour, "mutants-3-3": 0, "others-1-1": time.Hour, "mutants-x": time.Hour} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	release, free, err := hold(filepath.Join(dir, "mutants-2-2"))
	if err != nil || !free {
		t.Fatal(free, err)
	}
	left := func() map[string]bool {
		names := map[string]bool{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
		return names
	}
	sweep(dir, now)
	if got := left(); got["mutants-1-1"] || len(got) != 4 {
		t.Errorf("left are %v", got)
	}
	release()
	sweep(dir, now)
	if got := left(); got["mutants-2-2"] || len(got) != 3 {
		t.Errorf("left are %v", got)
	}
}

// TestScratch: a folder is held as long as it is there.
func TestScratch(t *testing.T) {
	t.Parallel()
	dir, remove, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	release, free, err := hold(dir)
	if err != nil || free {
		t.Errorf("another could hold it: %v", err)
	} else {
		release()
	}
	if _, err := os.Stat(buildFolder(filepath.Join(dir, "plain"))); err != nil {
		t.Error(err)
	}
	remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}
