// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// sleeperVariable makes the test binary a process that waits to be killed.
const sleeperVariable = "TFWEAVER_TEST_SLEEPER"

func TestMain(m *testing.M) {
	if os.Getenv(sleeperVariable) != "" {
		time.Sleep(10 * time.Minute)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

const patience = 30 * time.Second

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), sleeperVariable+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

// kill ends a process, and takes note of its end.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it says that it was killed, or was waited for
}

// mourner notes what it is told.
type mourner struct {
	mu    sync.Mutex
	ended map[admission.SessionID]bool
	busy  map[admission.SessionID]bool
	fails int // this many times
	told  chan admission.SessionID
}

func newMourner() *mourner {
	return &mourner{ended: map[admission.SessionID]bool{}, busy: map[admission.SessionID]bool{}, told: make(chan admission.SessionID, 100)}
}

func (m *mourner) Deceased(_ context.Context, id admission.SessionID, idle bool) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails > 0 {
		m.fails--
		return false, coordinator.ErrUnavailable
	}
	if idle && m.busy[id] {
		return false, nil
	}
	m.told <- id
	return true, nil
}

func (m *mourner) Mortal(_ context.Context, ids []admission.SessionID) (map[admission.SessionID]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mortal := map[admission.SessionID]bool{}
	for _, id := range ids {
		mortal[id] = !m.ended[id]
	}
	return mortal, nil
}

// watched runs a watch until the end of the test.
func watched(t *testing.T, r *Registry, m Mourner) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Watch(ctx, m) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
}

func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }

// mourned waits until the death of a session is told.
func (m *mourner) mourned(t *testing.T, want admission.SessionID) {
	t.Helper()
	select {
	case got := <-m.told:
		if got != want {
			t.Fatalf("%s is said to be dead; want %s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("nobody found out that %s is dead", want)
	}
}

// alone makes sure that no death was told.
func (m *mourner) alone(t *testing.T) {
	t.Helper()
	select {
	case got := <-m.told:
		t.Fatalf("%s is said to be dead", got)
	default:
	}
}
