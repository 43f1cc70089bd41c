// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// limitFiles gives this process a disk on which files cannot become larger.
func limitFiles(bytes string) error {
	n, err := strconv.ParseUint(bytes, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // writing fails instead
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY})
}

// onSmallDisk are options for a coordinator that can write so many bytes to a
// file.
func onSmallDisk(dir string, bytes int) embedded.Options {
	o := options(dir, "1m")
	o.Args = append(o.Args, strconv.Itoa(bytes))
	return o
}

// TestFullDisk: where there is no room nothing is started, and people are told
// what to free.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	_, err := embedded.Connect(within(t), onSmallDisk(dir, 100_000))
	if err == nil || !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), filepath.Join(dir, bboltjournal.FileName)) {
		t.Fatalf("Connect: %v; want the full disk named", err)
	}
	wantPlain(t, err)
}

// TestNoRoomForAWord: a coordinator that can write nothing at all can tell nobody
// why it ends, and so whoever started it finds out.
func TestNoRoomForAWord(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	ctx := within(t)
	out, err := exec.CommandContext(ctx, os.Args[0], "run", dir, "1m", "0").CombinedOutput() //nolint:gosec // this program
	said := string(out)
	if err == nil || !strings.Contains(said, "cannot write to the state folder "+dir+" (file too large): free some space") || strings.Contains(said, "without a word") {
		t.Fatalf("%v: %s", err, said)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".probe*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestDiskBecomesFull: the coordinator acknowledges nothing that it cannot
// write, says in its log what to do, and goes on once there is room: no run
// notices but by waiting.
func TestDiskBecomesFull(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c, err := embedded.Connect(within(t), onSmallDisk(dir, 300_000))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(within(t))
	defer stop()
	done := make(chan error, 1)
	var written []admission.TxID
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			tx, err := call(within(t), s, coordinatortest.Create(fmt.Sprint("n", i), "a"), func() {})
			if err != nil {
				done <- err
				return
			}
			written = append(written, tx)
		}
		done <- nil
	}()
	full := func() bool {
		log, err := os.ReadFile(filepath.Join(dir, "serve.log"))
		return err == nil && strings.Contains(string(log), "stepping down") && strings.Contains(string(log), "free some space")
	}
	waitFor(t, "full disk", func() bool {
		select {
		case err := <-done:
			t.Fatalf("a call: %v", err)
		default:
		}
		return full()
	})
	l, _ := published(t, dir)
	if err := unix.Prlimit(l.PID, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := call(within(t), s, coordinatortest.Create("after", "a"), func() {}); err != nil {
		t.Fatalf("a call after there is room again: %v", err)
	}
	stop()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a call meanwhile: %v", err)
	}
	wantOperational(t, c, written)
	if _, err := s.Close(within(t)); err != nil {
		t.Error(err)
	}
}
