// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	resume = func() { end(t, l.PID, syscall.SIGCONT) }
	t.Cleanup(resume)
	return l, resume
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

// TestStoppedCoordinatorIsFenced: while a coordinator is stopped, somebody puts
// a copy in the place of its journal and another coordinator leads that. The
// first one decides nothing any more when it goes on; it ends, and harms
// neither its successor nor that one's socket.
func TestStoppedCoordinatorIsFenced(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	old := connect(t, dir, "1m")
	s, err := old.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(within(t)) //nolint:errcheck // it may be lost
	first, resume := stopLeader(t, dir)
	putBack(t, dir)

	c := connect(t, dir, "1m")
	second, _ := published(t, dir)
	if second.PID == first.PID || second.Address == first.Address {
		t.Fatalf("%+v follows %+v", second, first)
	}
	resume()
	wantNoDecision(t, first.Address)
	waitFor(t, "end of the first coordinator", func() bool {
		_, err := os.Lstat(strings.TrimPrefix(first.Address, "unix://"))
		return err != nil
	})
	if now, ok := published(t, dir); !ok || now != second {
		t.Errorf("%+v leads after %+v", now, second)
	}
	other, err := c.Open(within(t), client.SessionConfig{Actor: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(within(t), other, coordinatortest.Create("n", "c"), func() {}); err != nil {
		t.Errorf("a call to the successor: %v", err)
	}
	if _, err := other.Close(within(t)); err != nil {
		t.Error(err)
	}
	wantOneSocket(t, dir, second.Address)
}

// putBack puts a copy of the journal in its place, as one does with a backup.
func putBack(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, bboltjournal.FileName)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".copy", data, 0o600)
	}
	if err := errors.Join(err, os.Rename(path+".copy", path), os.Remove(filepath.Join(dir, "current"))); err != nil {
		t.Fatal(err)
	}
}

// wantNoDecision: whoever still reaches a superseded coordinator gets nothing
// from it.
func wantNoDecision(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, address)
	if err != nil {
		return // it has ended already
	}
	defer c.Close()
	s, err := c.Open(ctx, client.SessionConfig{Actor: "late"})
	if err == nil {
		t.Errorf("the superseded coordinator opened session %s", s.ID())
		_, _ = s.Close(ctx)
	}
}
