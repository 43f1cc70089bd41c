// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// TestMain also plays the processes that are killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "script" {
		os.Exit(play(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 3 && os.Args[1] == "endless" {
		os.Exit(playEndless(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// moments counts the moments between two steps, of which each has a number.
type moments struct {
	n, stop int
	reached func(what string) // called at the one to stop at
}

func (m *moments) pass(what string) {
	m.n++
	if m.n == m.stop {
		m.reached(fmt.Sprintf("at %d %s", m.n, what))
	}
}

// watchWrites counts every write of bbolt: half-way through it and behind it.
// Behind the last page comes a synchronisation, and then the header, which is
// page 0 or 1, and another one.
func (m *moments) watchWrites(j *Journal) {
	interpose(j.db, func(write writeAt) writeAt {
		return func(b []byte, off int64) (int, error) {
			what := fmt.Sprintf("page %d", off/int64(os.Getpagesize()))
			if off <= int64(os.Getpagesize()) {
				m.pass("before header " + what)
			}
			if _, err := write(b[:len(b)/2], off); err != nil {
				return 0, err
			}
			m.pass("within " + what)
			n, err := write(b, off)
			m.pass("behind " + what)
			return n, err
		}
	})
}

// script is one life of a journal with everything in it: its creation, single
// records, a group of several, snapshots of several chunks, trimming in parts,
// and a second leadership.
func script(ctx context.Context, j *Journal, m *moments, said io.Writer) error {
	return scriptWith(ctx, j, m, said, func(step) {})
}

// scriptWith is script for those who look at every step.
func scriptWith(ctx context.Context, j *Journal, m *moments, said io.Writer, look func(step)) error {
	j.chunkSize, j.trimPage = 1500, 3
	j.fault = func(s step) error {
		look(s)
		m.pass(string(s))
		return nil
	}
	w, err := newWriter(ctx, j, said)
	if err != nil {
		return err
	}
	m.watchWrites(j)
	for _, f := range []func() error{
		func() error { return w.append(ctx, 1) },
		func() error { return w.append(ctx, 1) },
		func() error { return w.append(ctx, 8) },
		func() error { return w.snapshot(ctx, 3) },
		func() error { return w.append(ctx, 3) },
		func() error { return w.lead(ctx) },
		func() error { return w.append(ctx, 4) },
		func() error { return w.snapshot(ctx, 2) },
		func() error { return w.append(ctx, 1) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// play runs the script up to a moment, says so, and waits to be killed.
func play(dir, stop string) int {
	n, err := strconv.Atoi(stop)
	if err != nil {
		return 2
	}
	j, err := Open(dir)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	m := &moments{stop: n, reached: func(what string) {
		fmt.Println(what)
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or nobody is left to
	}}
	if err := script(context.Background(), j, m, os.Stdout); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// child is a process that writes.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe() // ends with this process
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return c
}

// kill ends it at once, and takes in what it has said meanwhile.
func (c *child) kill(w *witness) {
	_ = c.cmd.Process.Kill()
	for c.lines.Scan() {
		w.hear(c.lines.Text())
	}
	_ = c.cmd.Wait()
}

// count is how many moments the script has, and what they are.
func count(t *testing.T) []string {
	t.Helper()
	var names []string
	j := open(t, filepath.Join(t.TempDir(), "state"))
	defer j.Close()
	all := &moments{stop: 1}
	all.reached = func(what string) {
		names = append(names, strings.SplitN(what, " ", 3)[2])
		all.stop++
	}
	if err := script(t.Context(), j, all, io.Discard); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestKilledBetweenAnyTwoSteps kills a process at every moment of the script.
func TestKilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	names := count(t)
	for _, s := range []step{
		stepDecided, stepCommitted, stepTemporary, stepLaidOut, stepNamed, stepFolderSafe,
		stepChunks, stepChunk, stepTrimmed, stepLeading, stepSwept,
	} {
		if !strings.Contains(strings.Join(names, "\n")+"\n", string(s)+"\n") {
			t.Errorf("the script never comes to %q", s)
		}
	}
	t.Logf("%d moments", len(names))
	for i := range names {
		t.Run(fmt.Sprintf("%03d %s", i+1, names[i]), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			c := startChild(t, "script", dir, strconv.Itoa(i+1))
			var w witness
			for w.at == "" && c.lines.Scan() {
				w.hear(c.lines.Text())
				if strings.HasPrefix(c.lines.Text(), "error") {
					t.Error(c.lines.Text())
				}
			}
			c.kill(&w)
			if w.at == "" {
				t.Fatal("it never came to the moment")
			}
			w.check(t, dir)
		})
	}
}

// playEndless writes batches of changing size until it is killed.
func playEndless(dir string) int {
	ctx := context.Background()
	j, err := Open(dir)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	j.chunkSize, j.trimPage = 1500, 7
	w, err := newWriter(ctx, j, os.Stdout)
	for n := 0; err == nil; n++ {
		err = w.append(ctx, 1+n%5)
		if err == nil && n%9 == 8 {
			err = w.snapshot(ctx, journal.Index(n%4))
		}
	}
	fmt.Println("error", err)
	return 1
}

const (
	// roundsVariable says how often the writer is killed at a random moment.
	roundsVariable = "JOURNAL_ROUNDS"
	defaultRounds  = 25
	seedVariable   = "JOURNAL_SEED"
)

func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestKilledAtRandom kills a writer again and again over one journal. Set
// JOURNAL_ROUNDS for more rounds, and JOURNAL_SEED to repeat a run's offsets.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	rounds := number(t, roundsVariable, defaultRounds)
	seed := number(t, seedVariable, time.Now().UnixNano())
	t.Logf("%s=%d", seedVariable, seed)
	killAtRandom(t, filepath.Join(t.TempDir(), "state"), int(rounds), seed)
}
