// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// output runs the program.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

func TestReplayIsTheSame(t *testing.T) {
	t.Parallel()
	first := output(t, "-replay", "5")
	if second := output(t, "-replay", "5"); first != second {
		t.Error("two replays differ")
	}
	if !strings.Contains(first, "\nevents ") || !strings.Contains(first, "leads epoch 1") {
		t.Errorf("no event log:\n%.400s", first)
	}
}

func TestSomeSeeds(t *testing.T) {
	t.Parallel()
	got := output(t, "-seed", "9", "-seeds", "2", "-hours", "1", "-logs", t.TempDir())
	if !strings.HasPrefix(got, "2 seeds (0 failed), ") {
		t.Error(got)
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hours float64
		env   string
		want  time.Duration
	}{
		{0.5, "", 30 * time.Minute},
		{0.5, "2h", 30 * time.Minute},
		{0, "2h", 2 * time.Hour},
		{0, "", time.Minute},
	} {
		if got, err := length(c.hours, c.env); err != nil || got != c.want {
			t.Errorf("%v hours, SIMULATE_FOR=%q: %v, %v", c.hours, c.env, got, err)
		}
	}
	if _, err := length(0, "long"); err == nil {
		t.Error("SIMULATE_FOR=long is understood")
	}
}

// TestUsage: a command line that is wrong is told with an exit code of its own.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-workers", "0"}, {"-hours", "-1"}, {"-logs", "/no/such/folder"}, {"again"}, {"-seed", "abc"}, {"-nonsense"}, {"-h"},
	} {
		if err := run(t.Context(), args, &bytes.Buffer{}); status(err) != 2 {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, env := range []string{"0", "-5s", "20"} {
		if d, err := length(0, env); err == nil {
			t.Errorf("SIMULATE_FOR=%s is %s", env, d)
		}
	}
	if status(errFailed) != 1 || status(nil) != 0 {
		t.Error("what is found and what is well have the wrong codes")
	}
}
