// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// runVariable makes the test binary a run that has a call under way; its value
// is the address of the coordinator.
const runVariable = "TFWEAVER_TEST_RUN"

// startedRun is another process with a session whose call was sent.
type startedRun struct {
	cmd     *exec.Cmd
	session admission.SessionID
	tx      admission.TxID
}

// startRun starts a run that names a process as its sender. Its lease is far
// longer than any test.
func startRun(t *testing.T, address, sender string) *startedRun {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestRunOfAnotherProcess$", "-test.v") //nolint:gosec // this program
	cmd.Env = append(os.Environ(), runVariable+"="+address+" "+sender)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &startedRun{cmd: cmd}
	t.Cleanup(r.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 3 && f[0] == "started" {
			r.session, r.tx = admission.SessionID(f[1]), admission.TxID(f[2])
			return r
		}
	}
	t.Fatal("the run did not start its call")
	return nil
}

func (r *startedRun) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was killed
}

// TestRunOfAnotherProcess is that other process, when it is asked to.
func TestRunOfAnotherProcess(t *testing.T) {
	address, sender, ok := strings.Cut(os.Getenv(runVariable), " ")
	if !ok {
		t.Parallel() // a test of its own it is not
		return
	}
	c, err := client.Dial(within(t), address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice", Objective: "test", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var senders []coordinator.Process
	sender, foreign := strings.CutPrefix(sender, "foreign")
	if pid := 0; sender != "" {
		if _, err := fmt.Sscan(sender, &pid); err != nil {
			t.Fatal(err)
		}
		p, err := liveness.Identify(pid)
		if err != nil {
			t.Fatal(err)
		}
		if foreign {
			p.Started = "elsewhere" + p.Started
		}
		senders = append(senders, p)
	}
	if err := s.Senders(within(t), senders); err != nil {
		t.Fatal(err)
	}
	g := grant(t, s, coordinatortest.Create("n", "a"))
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	fmt.Println("started", s.ID(), g.Tx())
	time.Sleep(10 * time.Minute)
}

// daemon runs a coordinator with its journal on disk.
func daemon(t *testing.T, dir, address string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- server.Run(ctx, server.Config{
			Listen: address, Dir: dir, Version: "1",
			Ready: func(string, uint64) error { close(ready); return nil },
		})
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("Run: %v", err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// dead waits until a session is found dead, and returns what is uncertain.
func dead(t *testing.T, s *client.Session, mine admission.TxID) coordinator.Unsettled {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		list, err := s.Unsettled(within(t), mine)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && list[0].Dead {
			return list[0]
		}
	}
	t.Fatal("nobody found out that the run is dead")
	return coordinator.Unsettled{}
}

// settle reads until the coordinator takes it as proof.
func settle(t *testing.T, s *client.Session, tx admission.TxID, exists bool) error {
	t.Helper()
	m, err := s.Moment(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return s.Settle(within(t), admission.Settle{Tx: tx, Began: m.Index, BeganAt: m.At, Exists: exists, Terminal: true})
}

// TestKilledRunIsSettledByAnother: a killed run never returns, and the next one
// goes on without an override, but not before its senders are dead.
func TestKilledRunIsSettledByAnother(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	daemon(t, filepath.Join(t.TempDir(), "state"), p.address)
	plugin := sleepingProcess(t)
	run := startRun(t, p.address, fmt.Sprint(plugin.Process.Pid))
	bob := open(t, p.dial(), client.SessionConfig{Actor: "bob"})
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	mine := receive(t, "wait", waits).Tx
	run.kill()
	time.Sleep(300 * time.Millisecond)
	if list, err := bob.Unsettled(within(t), mine); err != nil || len(list) != 0 {
		t.Errorf("while the plugin may still send: %+v, %v", list, err)
	}
	if err := settle(t, bob, run.tx, true); !errors.Is(err, admission.ErrStatus) {
		t.Errorf("Settle of a call that is under way: %v", err)
	}
	_ = plugin.Process.Kill()
	_ = plugin.Wait() // it was killed
	u := dead(t, bob, mine)
	if u.Tx != run.tx || u.Session != run.session || u.Actor != "alice" || u.After > 10*time.Second {
		t.Errorf("what is uncertain: %+v", u)
	}
	var unsettled *client.UnsettledError
	if err := settle(t, bob, run.tx, false); !errors.As(err, &unsettled) || unsettled.After <= 0 || unsettled.After > 10*time.Second || unsettled.Reason == "" {
		t.Errorf("Settle by absence at once: %v; want when to read", err)
	}
	if err := settle(t, bob, run.tx, true); err != nil {
		t.Fatalf("Settle by presence: %v", err)
	}
	a := receive(t, "answer", done)
	if a.err != nil {
		t.Fatalf("Submit: %v", a.err)
	}
	finish(t, a.grant)
}

// TestRunDiesWhileNobodyServes: the next coordinator finds out, although the
// lease is far from over.
func TestRunDiesWhileNobodyServes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(t.TempDir(), "state")
	stop := daemon(t, dir, p.address)
	run := startRun(t, p.address, "")
	bob := open(t, p.dial(), client.SessionConfig{Actor: "bob"})
	_, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	mine := receive(t, "wait", waits).Tx
	stop()
	run.kill()
	daemon(t, dir, p.address)
	if u := dead(t, bob, mine); u.Tx != run.tx {
		t.Errorf("what is uncertain: %+v", u)
	}
}

// TestForwardedSocket: of a run on another machine, whose socket is forwarded,
// the death of what forwards it tells nothing, and neither do its numbers.
func TestForwardedSocket(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	daemon(t, filepath.Join(t.TempDir(), "state"), p.address)
	run := startRun(t, p.address, fmt.Sprint("foreign", os.Getpid()))
	run.kill()
	time.Sleep(2 * time.Second)
	st, err := p.dial().Status(within(t))
	if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Dead || st.Transactions[0].Status != admission.Actioning {
		t.Errorf("Status = %+v, %v", st, err)
	}
}

func sleepingProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed, or was waited for
	})
	return cmd
}
