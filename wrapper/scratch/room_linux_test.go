// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// limitFiles gives this process a disk on which files cannot become larger.
func limitFiles(bytes string) error {
	n, err := strconv.ParseUint(bytes, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // writing fails instead
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n})
}

// TestRoom: a folder in which no plan can be saved is not made, and nothing of the
// attempt is left.
func TestRoom(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]string{Room: "made", Room - 1: "no temporary files can be written in DIR: file too large"} {
		t.Run(strconv.Itoa(bytes), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TMPDIR="+dir, smallEnv+"="+strconv.Itoa(bytes))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := strings.TrimSpace(string(out)); got != strings.ReplaceAll(want, "DIR", dir) {
				t.Errorf("it says %q, want %q", got, want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}
