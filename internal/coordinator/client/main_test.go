// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// place is where a coordinator serves, again and again.
type place struct {
	t       *testing.T
	store   *memjournal.Store
	address string
	journal *coordinatortest.Journal // of the last start
}

func newPlace(t *testing.T) *place {
	t.Helper()
	// t.TempDir may be longer than a socket's path can be.
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &place{t: t, store: memjournal.NewStore(), address: "unix://" + filepath.Join(dir, "s")}
}

// serve runs a coordinator until stop is called, at the latest at the end of
// the test.
func (p *place) serve() (stop func()) {
	p.t.Helper()
	p.journal = &coordinatortest.Journal{Journal: p.store.Open()}
	return p.serveJournal(p.journal)
}

func (p *place) serveJournal(j journal.Journal) (stop func()) {
	p.t.Helper()
	c, err := coordinator.New(p.t.Context(), coordinator.Config{Journal: j, Version: "1.2.3", Host: "here", Refresh: 5 * time.Millisecond})
	if err != nil {
		p.t.Fatalf("New: %v", err)
	}
	l, err := server.Listen(p.t.Context(), p.address)
	if err != nil {
		p.t.Fatalf("Listen: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(c).Serve(ctx, l, 0) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("Serve: %v", err)
		}
		if err := c.Close(context.Background()); err != nil {
			p.t.Errorf("Close: %v", err)
		}
	}
	p.t.Cleanup(stop)
	return stop
}

func (p *place) dial() *client.Client {
	p.t.Helper()
	c, err := client.Dial(within(p.t), p.address)
	if err != nil {
		p.t.Fatalf("Dial: %v", err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, c *client.Client, config client.SessionConfig) *client.Session {
	t.Helper()
	if config.Objective == "" {
		config.Objective = "test"
	}
	s, err := c.Open(within(t), config)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := s.Close(ctx); err != nil && !errors.Is(err, client.ErrUnreachable) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close of %s: %v", s.ID(), err)
		}
	})
	return s
}

// grant submits a request that is admitted at once.
func grant(t *testing.T, s *client.Session, r admission.Request) *client.Grant {
	t.Helper()
	g, err := s.Submit(within(t), r, "", func(w client.Waiting) { t.Errorf("%s waits: %+v", r.Address, w.Report) })
	if err != nil {
		t.Fatalf("Submit: %v", err)
	}
	return g
}

// answer is what an asynchronous Submit returned.
type answer struct {
	grant *client.Grant
	err   error
}

// wait submits a request in the background and returns once it waits.
func wait(t *testing.T, ctx context.Context, s *client.Session, r admission.Request) (<-chan answer, <-chan client.Waiting) {
	t.Helper()
	done := make(chan answer, 1)
	waits := make(chan client.Waiting, 100)
	go func() {
		g, err := s.Submit(ctx, r, "", func(w client.Waiting) { waits <- w })
		done <- answer{g, err}
	}()
	return done, waits
}

func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func finish(t *testing.T, g *client.Grant) {
	t.Helper()
	if err := g.Start(within(t)); err != nil {
		t.Fatalf("Start: %v", err)
	}
	if err := g.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
		t.Fatalf("Complete: %v", err)
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%s: got error %v, want %v", what, got, want)
	}
}
