// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// On demand: go test ./internal/coordinator/embedded -run Kills -kills=200 -seed=7.
var (
	kills = flag.Int("kills", 15, "how many coordinators are killed")
	seed  = flag.Uint64("seed", 1, "of the moments at which they are killed")
)

const (
	// bornName is the file to which each coordinator adds a byte when it begins,
	// and killedName the one to which it adds one just before it is killed.
	bornName, killedName = "born", "killed"
)

// playMortal is a coordinator that is killed by the kernel at a moment which the
// seed and its place in the line give, until enough of them were.
func playMortal(dir, idle, seedText, killsText string) int {
	n, killed := tally(dir, bornName), tally(dir, killedName)
	err := count(dir, bornName)
	s, seedErr := strconv.ParseUint(seedText, 10, 64)
	limit, limitErr := strconv.Atoi(killsText)
	if err := errors.Join(err, seedErr, limitErr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if killed < limit {
		moments := rand.New(rand.NewPCG(s, uint64(n)))
		go dieOnce(dir, moments)
	}
	return playCoordinator(dir, idle)
}

// dieOnce kills this process: one in eight at its first moment, as many soon
// after that, and the others at some time after they can be found.
func dieOnce(dir string, moments *rand.Rand) {
	within := time.Nanosecond
	switch moments.IntN(8) {
	case 0:
	case 1:
		within = 40 * time.Millisecond
	default:
		within = 200 * time.Millisecond
		for {
			if l, ok, err := server.ReadLeader(dir); err == nil && ok && l.PID == os.Getpid() {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(time.Duration(moments.Int64N(int64(within))))
	_ = count(dir, killedName)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// count adds to a tally, outside of the state folder.
func count(dir, name string) error {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(dir), name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(".")
	return errors.Join(err, f.Close())
}

func tally(dir, name string) int {
	info, err := os.Stat(filepath.Join(filepath.Dir(dir), name))
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// TestKills: whenever coordinators are killed, no run fails that is just
// starting one, greeting one, opening its session or sending a call; and no
// session stays behind that nobody has.
func TestKills(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	o := options(dir, "1m")
	o.Args = []string{"mortal", dir, "1m", strconv.FormatUint(*seed, 10), strconv.Itoa(*kills)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*kills)*5*time.Second+patience)
	defer cancel()
	var runs sync.WaitGroup
	for worker := range 4 {
		runs.Go(func() {
			for i := 0; tally(dir, killedName) < *kills && ctx.Err() == nil; i++ {
				if err := oneRun(ctx, o, fmt.Sprintf("n%d-%d", worker, i)); err != nil {
					t.Errorf("run %d of worker %d, after %d kills: %v", i, worker, tally(dir, killedName), err)
					return
				}
			}
		})
	}
	runs.Wait()
	c, err := embedded.Connect(ctx, o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	defer c.Close()
	st, err := c.Status(ctx)
	if err != nil {
		t.Fatalf("Status: %v", err)
	}
	for _, s := range st.Sessions {
		t.Errorf("session %s stays behind", s.ID)
	}
	t.Logf("%d coordinators, %d of them killed, epoch %d", tally(dir, bornName), tally(dir, killedName), st.Epoch)
}

// oneRun does what a run does, in short.
func oneRun(ctx context.Context, o embedded.Options, node string) error {
	c, err := embedded.Connect(ctx, o)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	if _, err := c.Info(ctx); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	s, err := c.Open(ctx, client.SessionConfig{Actor: "alice", Lease: 5 * time.Minute})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = oneCall(ctx, s, node)
	_, closeErr := s.Close(ctx)
	return errors.Join(err, closeErr)
}

func oneCall(ctx context.Context, s *client.Session, node string) error {
	g, err := s.Submit(ctx, coordinatortest.Create(node, "a"), "", nil)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	if err := g.Start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := g.Complete(ctx, client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	return nil
}

// TestAlwaysKilled: a coordinator that is killed each time it is started is
// reported, with where to look.
func TestAlwaysKilled(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	o := options(dir, "1m")
	o.Executable, o.Args = "/bin/sh", []string{"-c", "kill -KILL $$"}
	_, err := embedded.Connect(within(t), o)
	var start *embedded.StartError
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "signal: killed") || !strings.Contains(err.Error(), "serve.log") {
		t.Fatalf("Connect: %v", err)
	}
}
