// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// call lets one call through. inside is called while it may run.
func call(ctx context.Context, s *client.Session, r admission.Request, inside func()) (admission.TxID, error) {
	g, err := s.Submit(ctx, r, "", nil)
	if err != nil {
		return "", fmt.Errorf("submit: %w", err)
	}
	if err := g.Start(ctx); err != nil {
		return "", fmt.Errorf("start: %w", err)
	}
	inside()
	if err := g.Complete(ctx, client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		return "", fmt.Errorf("complete: %w", err)
	}
	return g.Tx(), nil
}

// wantOperational: what was acknowledged as done is.
func wantOperational(t *testing.T, c *client.Client, done []admission.TxID) {
	t.Helper()
	if len(done) == 0 {
		t.Error("nothing was ever done")
	}
	for _, tx := range done {
		if _, status, err := c.Explain(within(t), tx); err != nil || status != admission.Operational {
			t.Errorf("%s was done and is %s, %v", tx, status, err)
		}
	}
}

const (
	// roundsVariable says how often the serving process is killed.
	roundsVariable = "EMBEDDED_ROUNDS"
	defaultRounds  = 8
	// maxReign is how long a serving process may live at most.
	maxReign = 300 * time.Millisecond
)

func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv(roundsVariable)
	if text == "" {
		return defaultRounds
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", roundsVariable, err)
	}
	return n
}

// TestKilledAtRandom kills the serving process again and again under runs that
// want the same lock: no run notices but by waiting, no two hold the lock at
// once, and nothing that was acknowledged is lost.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		all  sync.WaitGroup
		held sync.Mutex // the lock as the cloud would see it
		mu   sync.Mutex
		done []admission.TxID
	)
	for run := range 3 {
		c := connect(t, dir, "1m")
		s, err := c.Open(within(t), client.SessionConfig{Actor: fmt.Sprint("run ", run)})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
				tx, err := call(limited, s, coordinatortest.Create("n", fmt.Sprintf("%d-%d", run, i)), func() {
					if !held.TryLock() {
						t.Error("two runs hold one lock")
						return
					}
					time.Sleep(time.Millisecond)
					held.Unlock()
				})
				cancel()
				if err != nil {
					t.Errorf("run %d, call %d: %v", run, i, err)
					return
				}
				mu.Lock()
				done = append(done, tx)
				mu.Unlock()
			}
			if _, err := s.Close(context.WithoutCancel(ctx)); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	first, _ := published(t, dir)
	last := killAgainAndAgain(t, dir, rand.New(rand.NewPCG(seed, 1)), rounds(t))
	stop()
	all.Wait()
	if last.Epoch < first.Epoch+uint64(rounds(t)) {
		t.Errorf("epoch %d after %d and %d takeovers", last.Epoch, first.Epoch, rounds(t))
	}
	wantOperational(t, connect(t, dir, "1m"), done)
	t.Logf("%d calls", len(done))
	wantOneSocket(t, dir, last.Address)
}

// killAgainAndAgain returns the leader that it leaves.
func killAgainAndAgain(t *testing.T, dir string, random *rand.Rand, rounds int) (last server.Leader) {
	t.Helper()
	for round := range rounds {
		time.Sleep(time.Duration(random.Int64N(int64(maxReign))))
		l, ok := published(t, dir)
		if !ok {
			t.Fatal("nobody leads")
		}
		end(t, l.PID, os.Kill)
		waitFor(t, "successor", func() bool {
			last, ok = published(t, dir)
			return ok && last.PID != l.PID
		})
		if last.Epoch <= l.Epoch {
			t.Errorf("round %d: epoch %d follows %d", round+1, last.Epoch, l.Epoch)
		}
	}
	return last
}

// wantOneSocket: the dead leaders' sockets are gone, the living one's is there.
func wantOneSocket(t *testing.T, dir, address string) {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(runtimeOf(dir), "*.sock"))
	if err != nil || len(sockets) != 1 || sockets[0] != strings.TrimPrefix(address, "unix://") {
		t.Errorf("the sockets are %q, %v; want that of %s", sockets, err, address)
	}
}
