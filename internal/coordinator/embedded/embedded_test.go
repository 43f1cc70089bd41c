// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

const patience = 60 * time.Second

// TestMain also plays the parts of other processes: the coordinator that is
// started, and a run that connects.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "serve" {
		if len(os.Args) > 4 {
			if err := limitFiles(os.Args[4]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
		}
		os.Exit(playCoordinator(os.Args[2], os.Args[3]))
	}
	if len(os.Args) > 5 && os.Args[1] == "mortal" {
		os.Exit(playMortal(os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
	}
	if len(os.Args) > 3 && os.Args[1] == "run" {
		if len(os.Args) > 4 { // the coordinator that it starts inherits it
			if err := limitFiles(os.Args[4]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
		}
		os.Exit(playRun(os.Args[2], os.Args[3]))
	}
	// The goroutine that waits for a started coordinator lives as long as
	// that does.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
}

func playCoordinator(dir, idle string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := time.ParseDuration(idle)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	err = embedded.Serve(ctx, embedded.Options{
		Dir: dir, Runtime: runtimeOf(dir), IdleExit: d, Version: "test",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// playRun connects, says which coordinator it reached, and leaves when its
// input ends.
func playRun(dir, idle string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := embedded.Connect(ctx, options(dir, idle))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	defer c.Close()
	info, err := c.Info(ctx)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("epoch", info.GetEpoch())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// runtimeOf is next to the state folder, so that a test cleans up after
// itself.
func runtimeOf(dir string) string { return filepath.Join(filepath.Dir(dir), "r") }

func options(dir, idle string) embedded.Options {
	executable, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return embedded.Options{
		Dir: dir, Runtime: runtimeOf(dir), Executable: executable, Args: []string{"serve", dir, idle}, Version: "test",
	}
}

// stateDir is short enough for sockets. At the end the coordinator is stopped.
func stateDir(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "state")
	t.Cleanup(func() {
		if c, ok := published(t, dir); ok {
			end(t, c.PID, syscall.SIGTERM)
			waitFor(t, "the end of the coordinator", func() bool { _, ok := published(t, dir); return !ok })
		}
		os.RemoveAll(base)
	})
	return dir
}

func published(t *testing.T, dir string) (server.Leader, bool) {
	t.Helper()
	l, ok, err := server.ReadLeader(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l, ok
}

func end(t *testing.T, pid int, sig os.Signal) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(sig)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("end %d: %v", pid, err)
	}
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %s", what)
		}
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, dir, idle string) *client.Client {
	t.Helper()
	c, err := embedded.Connect(within(t), options(dir, idle))
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// process is a run in a process of its own.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	said chan string
}

func startRun(t *testing.T, dir, idle string) *process {
	t.Helper()
	o := options(dir, idle)
	cmd := exec.Command(o.Executable, "run", dir, idle)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, in: in, said: make(chan string, 1)}
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		p.said <- strings.TrimSpace(line) + map[bool]string{true: "", false: " (cut off)"}[err == nil]
	}()
	return p
}

func (p *process) leave(t *testing.T) {
	t.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("a run: %v", err)
	}
}

// TestTwelveAtOnceGetOneCoordinator: whoever comes first starts it, the others
// find it, and it outlives whoever started it.
func TestTwelveAtOnceGetOneCoordinator(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	var runs []*process
	for range 12 {
		runs = append(runs, startRun(t, dir, "1m"))
	}
	for _, p := range runs {
		if said := <-p.said; said != "epoch 1" {
			t.Errorf("a run says %q; want epoch 1", said)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "serve.log"))
	if n := strings.Count(string(log), "msg=starting"); err != nil || n != 1 {
		t.Errorf("%d coordinators were started, %v; want 1", n, err)
	}
	for _, p := range runs {
		p.leave(t)
	}
	late := startRun(t, dir, "1m")
	if said := <-late.said; said != "epoch 1" {
		t.Errorf("a later run says %q; want epoch 1", said)
	}
	late.leave(t)
}

// TestIdleExit: the coordinator ends when nobody is there, takes its traces
// with it, and the next one knows what it knew.
func TestIdleExit(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c := connect(t, dir, "200ms")
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // longer than the idle time: a session is open
	g, err := s.Submit(within(t), coordinatortest.Create("n", "a"), "", nil)
	if err != nil {
		t.Fatalf("Submit: %v", err)
	}
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := g.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	first, ok := published(t, dir)
	if !ok {
		t.Fatal("nothing is published")
	}
	c.Close()
	waitFor(t, "end of the idle coordinator", func() bool { _, ok := published(t, dir); return !ok })
	socket := strings.TrimPrefix(first.Address, "unix://")
	waitFor(t, "removal of the socket", func() bool { _, err := os.Lstat(socket); return err != nil })

	c = connect(t, dir, "1m")
	info, err := c.Info(within(t))
	if err != nil || info.GetEpoch() != first.Epoch+1 || !info.GetEmbedded() {
		t.Fatalf("Info = %v, %v; want epoch %d", info, err, first.Epoch+1)
	}
	_, status, err := c.Explain(within(t), g.Tx())
	if err != nil || status != admission.Operational {
		t.Errorf("%s is %s, %v", g.Tx(), status, err)
	}
}

// TestResume: whoever only asks starts nothing where nothing was, and sees what
// a coordinator that is gone has written down.
func TestResume(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	if _, err := embedded.Resume(within(t), options(dir, "1m")); !errors.Is(err, embedded.ErrNone) {
		t.Fatalf("Resume without a journal: %v; want none", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the state folder was made")
	}
	c := connect(t, dir, "1m")
	tx := leaveUncertain(t, c)
	c.Close()
	first, _ := published(t, dir)
	end(t, first.PID, os.Kill)

	c, err := embedded.Resume(within(t), options(dir, "1m"))
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	defer c.Close()
	st, err := c.Status(within(t))
	if err != nil || len(st.Locks) == 0 || st.Locks[0].Tx != tx || st.Locks[0].Actor != "alice" {
		t.Errorf("Status = %+v, %v; want alice's locks", st, err)
	}
	if st.Epoch != first.Epoch+1 {
		t.Errorf("epoch %d follows %d", st.Epoch, first.Epoch)
	}
}

// leaveUncertain ends a session in the middle of a call.
func leaveUncertain(t *testing.T, c *client.Client) admission.TxID {
	t.Helper()
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Submit(within(t), coordinatortest.Create("n", "a"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	return g.Tx()
}

// TestNoIdleExitWhileUncertain: the coordinator stays until somebody has said
// what became of the call.
func TestNoIdleExitWhileUncertain(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c := connect(t, dir, "100ms")
	tx := leaveUncertain(t, c)
	first, _ := published(t, dir)
	c.Close()
	time.Sleep(time.Second) // much longer than the idle time
	if now, ok := published(t, dir); !ok || now != first {
		t.Fatalf("%+v leads after %+v; want the same", now, first)
	}
	c = connect(t, dir, "100ms")
	if err := c.Resolve(within(t), tx, "bob", "looked", false); err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	c.Close()
	waitFor(t, "end of the idle coordinator", func() bool { _, ok := published(t, dir); return !ok })
}

// TestRemovedJournal: a call with an unknown outcome keeps no coordinator
// alive that nobody can find any more.
func TestRemovedJournal(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c := connect(t, dir, "100ms")
	leaveUncertain(t, c)
	c.Close()
	l, _ := published(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	socket := strings.TrimPrefix(l.Address, "unix://")
	waitFor(t, "end of the coordinator", func() bool { _, err := os.Lstat(socket); return err != nil })
}

// TestKilledCoordinator: a session outlives it; the run itself starts the next
// one, and goes on.
func TestKilledCoordinator(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	c := connect(t, dir, "1m")
	s, err := c.Open(within(t), client.SessionConfig{Actor: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Submit(within(t), coordinatortest.Create("n", "a"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	first, _ := published(t, dir)
	end(t, first.PID, os.Kill)
	if err := g.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		t.Fatalf("Complete: %v", err)
	}
	second, _ := published(t, dir)
	if second.Epoch != first.Epoch+1 || second.PID == first.PID {
		t.Errorf("%+v follows %+v", second, first)
	}
	if _, err := os.Lstat(strings.TrimPrefix(first.Address, "unix://")); err == nil {
		t.Error("the dead coordinator's socket is still there")
	}
	if err := s.Err(); err != nil {
		t.Errorf("the session was lost: %v", err)
	}
	if _, err := s.Close(within(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestOneAfterTheOther: a predecessor that is still closing holds nobody up
// for long, and its late end does not harm the successor.
func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 4 {
				c, err := embedded.Connect(within(t), options(dir, "60ms"))
				if err != nil {
					t.Errorf("Connect: %v", err)
					return
				}
				if _, err := c.Info(within(t)); err != nil {
					t.Errorf("Info: %v", err)
				}
				c.Close()
				time.Sleep(80 * time.Millisecond)
			}
		})
	}
	all.Wait()
	waitFor(t, "end of the last one", func() bool { _, ok := published(t, dir); return !ok })
}

// TestNewerJournal: what the started process says reaches the user, and the
// journal stays as it is.
func TestNewerJournal(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	j, err := bboltjournal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Close()
	db, err := bbolt.Open(j.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("format"), []byte{0, 0, 0, 0, 0, 0, 0, 99})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	wantLeftAlone(t, dir, journal.ErrNewer.Error(), "install that version")
}

// wantPlain: people get one sentence, and nothing of the log.
func wantPlain(t *testing.T, err error) {
	t.Helper()
	var start *embedded.StartError
	if !errors.As(err, &start) {
		t.Errorf("%v is no StartError", err)
	}
	for _, bad := range []string{"\n", "level=", "exit status", "runtime error", "Error:"} {
		if strings.Contains(err.Error(), bad) {
			t.Errorf("%q has %q in it", err, bad)
		}
	}
}

// TestDamagedJournal: the journal is named with what to do about it.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	j, err := bboltjournal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if err := os.Truncate(j.Path(), 3*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	wantLeftAlone(t, dir, journal.ErrCorrupt.Error(), "backup")
}

// TestTheProgramIsMissing: a clear error at once.
func TestTheProgramIsMissing(t *testing.T) {
	t.Parallel()
	o := options(stateDir(t), "1m")
	o.Executable = filepath.Join(o.Dir, "no-such-program")
	if _, err := embedded.Connect(within(t), o); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("Connect: %v", err)
	}
}

// TestFoldersAreChecked: nobody else may put a socket or a journal there.
func TestFoldersAreChecked(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Connect(within(t), options(dir, "1m")); err == nil || !strings.Contains(err.Error(), "chmod 700") ||
		!strings.Contains(err.Error(), "the state folder "+dir) || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Errorf("Connect: %v", err)
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Connect(within(t), options(dir, "1m")); err == nil || strings.Contains(err.Error(), "chmod") {
		t.Errorf("Connect in everybody's folder: %v", err)
	}
}
