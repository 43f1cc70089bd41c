// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far more than anything here takes.
const patience = 30 * time.Second

// start runs a coordinator over j until the end of the test.
func start(t *testing.T, j journal.Journal, change ...func(*coordinator.Config)) *coordinator.Coordinator {
	t.Helper()
	config := coordinator.Config{Journal: j, Version: "test", Host: "here", Refresh: 5 * time.Millisecond}
	for _, f := range change {
		f(&config)
	}
	c, err := coordinator.New(t.Context(), config)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() { shut(t, c) })
	return c
}

func shut(t *testing.T, c *coordinator.Coordinator) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func counted() *coordinatortest.Journal {
	return &coordinatortest.Journal{Journal: memjournal.New()}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, c *coordinator.Coordinator, actor string) coordinator.Opened {
	t.Helper()
	return openFor(t, c, actor, time.Minute)
}

func openFor(t *testing.T, c *coordinator.Coordinator, actor string, lease time.Duration) coordinator.Opened {
	t.Helper()
	o, err := c.OpenSession(within(t), admission.Session{Actor: actor, Lease: int64(lease)}, admission.Intent{Objective: "test"})
	if err != nil {
		t.Fatalf("OpenSession: %v", err)
	}
	return o
}

// submit puts a request and closes the follower at the end of the test.
func submit(t *testing.T, c *coordinator.Coordinator, s coordinator.Opened, key uint64, r admission.Request) (coordinator.Decision, *coordinator.Follower) {
	t.Helper()
	r.Key = key
	d, f, err := c.Submit(within(t), s.Session, r, "")
	if err != nil {
		t.Fatalf("Submit: %v", err)
	}
	if f != nil {
		t.Cleanup(f.Close)
	}
	return d, f
}

func wantStatus(t *testing.T, d coordinator.Decision, want admission.Status) {
	t.Helper()
	if d.Status != want {
		t.Fatalf("%s is %s; want %s", d.Tx, d.Status, want)
	}
}

// settled waits until the follower's transaction does not wait any more.
func settled(t *testing.T, f *coordinator.Follower) coordinator.Decision {
	t.Helper()
	for {
		d, err := f.Next(within(t))
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		if !d.Waits() {
			return d
		}
	}
}

// run starts and completes an admitted call.
func run(t *testing.T, c *coordinator.Coordinator, s coordinator.Opened, d coordinator.Decision) {
	t.Helper()
	if _, err := c.Start(within(t), s.Session, d.Tx, d.Token); err != nil {
		t.Fatalf("Start: %v", err)
	}
	complete(t, c, s, d)
}

func complete(t *testing.T, c *coordinator.Coordinator, s coordinator.Opened, d coordinator.Decision) {
	t.Helper()
	err := c.Complete(within(t), s.Session, coordinator.Outcome{Tx: d.Tx, Token: d.Token, Result: admission.Succeeded, Exists: true})
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%s: got error %v, want %v", what, got, want)
	}
}
