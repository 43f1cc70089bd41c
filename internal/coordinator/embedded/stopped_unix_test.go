// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// stopLeader stops the serving process by a signal until the end of the test
// or resume.
func stopLeader(t *testing.T, dir string) (l server.Leader, resume func()) {
	t.Helper()
	l, ok := published(t, dir)
	if !ok {
		t.Fatal("nobody leads")
	}
	end(t, l.PID, syscall.SIGSTOP)
	waitFor(t, "stop of the leader", func() bool { return stopped(t, l.PID) })
	resume = func() { end(t, l.PID, syscall.SIGCONT) }
	t.Cleanup(resume)
	return l, resume
}

// stopped says whether no thread of a process runs any more.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 { // no Linux
		out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			t.Fatalf("ps: %v", err)
		}
		return strings.HasPrefix(strings.TrimSpace(string(out)), "T")
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}

// TestStoppedCoordinator: nobody takes the place of a coordinator that may go
// on any moment; people are told which process it is. What it acknowledged
// holds once it goes on, and once it is killed as well.
func TestStoppedCoordinator(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed=%t", killed), func(t *testing.T) {
			t.Parallel()
			dir := stateDir(t)
			c := connect(t, dir, "1m")
			s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
			if err != nil {
				t.Fatal(err)
			}
			tx, err := call(within(t), s, coordinatortest.Create("n", "a"), func() {})
			if err != nil {
				t.Fatal(err)
			}
			l, resume := stopLeader(t, dir)
			_, err = embedded.Connect(within(t), options(dir, "1m").Within(500*time.Millisecond))
			for _, want := range []string{fmt.Sprintf("kill -CONT %d", l.PID), fmt.Sprintf("kill -KILL %d", l.PID), "does not answer"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("Connect: %v; want %q", err, want)
				}
			}
			wantPlain(t, err)
			if killed {
				end(t, l.PID, os.Kill)
			} else {
				resume()
			}
			if _, err := call(within(t), s, coordinatortest.Create("n", "b"), func() {}); err != nil {
				t.Errorf("a call afterwards: %v", err)
			}
			wantOperational(t, c, []admission.TxID{tx})
			if now, _ := published(t, dir); (now.PID == l.PID) == killed {
				t.Errorf("%+v follows %+v", now, l)
			}
			if _, err := s.Close(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnanswered: a session knows that it is not answered, and does not take for that
// a request that waits for another session.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c := connect(t, dir, "1m")
	holder, waiter := openSession(t, c), openSession(t, c)
	_, err := call(within(t), holder, coordinatortest.Create("n", "a"), func() {
		ctx, cancel := context.WithCancel(within(t))
		defer cancel()
		waits, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := waiter.Submit(ctx, coordinatortest.Create("n", "a"), "", func(client.Waiting) { close(waits) })
			ended <- err
		}()
		<-waits
		settled := func() bool { _, open := waiter.Unanswered(); return !open }
		waitFor(t, "all questions answered", settled)

		_, resume := stopLeader(t, dir)
		asked := time.Now()
		answered := make(chan error, 1)
		go func() {
			_, err := waiter.Moment(within(t))
			answered <- err
		}()
		waitFor(t, "open question", func() bool { return !settled() })
		if since, open := waiter.Unanswered(); !open || since.Before(asked.Add(-time.Minute)) || since.After(time.Now()) {
			t.Errorf("open %v since %v", open, since)
		}
		resume()
		if err := <-answered; err != nil {
			t.Error(err)
		}
		waitFor(t, "all questions answered", settled)
		cancel()
		<-ended
	})
	if err != nil {
		t.Error(err)
	}
}

// TestStoppedCoordinatorIsFenced: while a coordinator is stopped, somebody puts
// another copy in the place of its journal, of now or of an earlier epoch, and
// another coordinator leads that. The first one decides nothing any more when
// it goes on; it ends, and harms neither its successor nor that one's socket.
func TestStoppedCoordinatorIsFenced(t *testing.T) {
	t.Parallel()
	for _, earlier := range []bool{false, true} {
		t.Run(fmt.Sprintf("earlier=%t", earlier), func(t *testing.T) {
			t.Parallel()
			dir := stateDir(t)
			backup := earlierJournal(t, dir)
			run := openSession(t, connect(t, dir, "1m"))
			leader, _ := published(t, dir)
			direct, err := client.Dial(within(t), leader.Address) // never asks another one
			if err != nil {
				t.Fatal(err)
			}
			defer direct.Close()
			bound := openSession(t, direct)
			first, resume := stopLeader(t, dir)
			if !earlier {
				backup = journalOf(t, dir)
			}
			putBack(t, dir, backup)

			c := connect(t, dir, "1m")
			second, _ := published(t, dir)
			if second.PID == first.PID || second.Address == first.Address || earlier && second.Epoch != first.Epoch {
				t.Fatalf("%+v follows %+v", second, first)
			}
			resume()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if tx, err := call(ctx, bound, coordinatortest.Create("n", "late"), func() {}); err == nil {
				t.Errorf("the superseded coordinator let %s through", tx)
			}
			if !earlier { // the successor knows the run
				tx, err := call(within(t), run, coordinatortest.Create("n", "on"), func() {})
				if err != nil {
					t.Errorf("a call of a run that goes on: %v", err)
				}
				wantOperational(t, c, []admission.TxID{tx})
			}
			waitFor(t, "end of the first coordinator", func() bool { return ended(first.PID) })
			wantInCharge(t, dir, c, second)
		})
	}
}

// wantInCharge: the leader is still published, can be reached, and decides.
func wantInCharge(t *testing.T, dir string, c *client.Client, l server.Leader) {
	t.Helper()
	if now, ok := published(t, dir); !ok || now != l {
		t.Errorf("%+v leads after %+v", now, l)
	}
	if _, err := call(within(t), openSession(t, c), coordinatortest.Create("m", "c"), func() {}); err != nil {
		t.Errorf("a call to the successor: %v", err)
	}
	wantOneSocket(t, dir, l.Address)
}

// openSession opens one that may be lost.
func openSession(t *testing.T, c *client.Client) *client.Session {
	t.Helper()
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = s.Close(ctx)
	})
	return s
}

func ended(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// earlierJournal is the journal as the first leader left it, who is dead.
func earlierJournal(t *testing.T, dir string) []byte {
	t.Helper()
	c := connect(t, dir, "1m")
	s, err := c.Open(within(t), client.SessionConfig{Actor: "carol"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	l, _ := published(t, dir)
	end(t, l.PID, os.Kill)
	waitFor(t, "end of the first leader", func() bool { return ended(l.PID) })
	return journalOf(t, dir)
}

func journalOf(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, bboltjournal.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// putBack puts a copy in the place of the journal, as one does with a backup.
func putBack(t *testing.T, dir string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, bboltjournal.FileName)
	err := os.WriteFile(path+".copy", data, 0o600)
	if err := errors.Join(err, os.Rename(path+".copy", path), os.Remove(filepath.Join(dir, "current"))); err != nil {
		t.Fatal(err)
	}
}
