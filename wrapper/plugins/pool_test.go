// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestPoolStartsNothingForASeat(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	for range 10 {
		p.Seat().Close()
	}
	if f.count() != 0 {
		t.Errorf("started %d processes for connections that never spoke", f.count())
	}
}

func TestPoolSharesByConfiguration(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	names := []string{"east", "west"}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			seat := p.Seat()
			ask(t, seat)
			name := names[i%2]
			configure(t, seat, name)
			for range 5 {
				if got := ask(t, seat).config.Load(); got != name {
					t.Errorf("a connection configured as %s was served by %v", name, got)
				}
			}
		}()
	}
	wg.Wait()
	if got := p.Processes(); got != 3 || f.count() != 3 {
		t.Errorf("%d processes run, %d were started, want 1 + 2 configurations", got, f.count())
	}
	p.Close()
	if got := p.Processes(); got != 0 {
		t.Errorf("%d processes survive Close", got)
	}
	for _, process := range f.started {
		if process.kills.Load() != 1 {
			t.Errorf("process %d was killed %d times", process.id, process.kills.Load())
		}
	}
}

func TestPoolRetiresIdleAndReplays(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 10*time.Millisecond)
	seat := p.Seat()
	plain := ask(t, seat)
	configure(t, seat, "east")
	first := ask(t, seat)
	eventually(t, "the idle process is gone", func() bool { return p.Processes() == 1 })
	if plain.dead.Load() {
		t.Error("the unconfigured process was retired")
	}
	l, second := lease(t, seat)
	defer l.Release()
	if second == first || second.config.Load() != "east" {
		t.Errorf("the replacement is %d with configuration %v", second.id, second.config.Load())
	}
	if len(p.Crashes()) != 0 {
		t.Error("a retired process counts as crashed")
	}
}

func TestPoolKeepsBusyAndPinned(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, time.Millisecond)
	busy, pinned, idle := p.Seat(), p.Seat(), p.Seat()
	configure(t, busy, "busy")
	l, _ := lease(t, busy)
	configure(t, pinned, "pinned")
	pin, _ := lease(t, pinned)
	pin.Pin()
	pin.Release()
	configure(t, idle, "idle")
	eventually(t, "the idle process is gone", func() bool { return p.Processes() == 2 })
	l.Release()
	eventually(t, "the process is gone after its call", func() bool { return p.Processes() == 1 })
	// A further call on the pinned process finds it, and ends without retiring.
	unpin, process := lease(t, pinned)
	if process.dead.Load() || process.config.Load() != "pinned" {
		t.Error("the pinned process was retired")
	}
	unpin.Unpin()
	unpin.Release()
	eventually(t, "the process is gone after its last pin", func() bool { return p.Processes() == 0 })
}

func TestPoolRetiresWithLastSeat(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	one, two := p.Seat(), p.Seat()
	configure(t, one, "east")
	configure(t, two, "east")
	first, process := lease(t, one)
	second, _ := lease(t, two)
	first.Pin()
	one.Close()
	two.Close()
	first.Release()
	p.mu.Lock()
	if second.worker.retired || process.dead.Load() {
		t.Error("the process was ended during a call")
	}
	p.mu.Unlock()
	second.Release()
	eventually(t, "the process is gone with its connections", func() bool { return p.Processes() == 0 })
}

func TestPoolRefusedConfiguration(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	seat := p.Seat()
	answer, err := seat.Configure(t.Context(), key("bad"), func(context.Context, Instance) (Answer, error) {
		return Answer{Message: []byte("no")}, nil
	})
	if err != nil || answer.Accepted || string(answer.Message) != "no" {
		t.Fatalf("got %+v, %v", answer, err)
	}
	eventually(t, "the process that refused is gone", func() bool { return p.Processes() == 0 })
	if got := ask(t, seat).config.Load(); got != nil {
		t.Errorf("the connection moved to %v", got)
	}
	configure(t, seat, "bad")
}

func TestPoolReplayRefused(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, time.Millisecond)
	seat := p.Seat()
	var asked atomic.Int32
	_, err := seat.Configure(t.Context(), key("fickle"), func(context.Context, Instance) (Answer, error) {
		return Answer{Accepted: asked.Add(1) == 1}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the idle process is gone", func() bool { return p.Processes() == 0 })
	if _, err := seat.Lease(t.Context()); !errors.Is(err, ErrReplay) {
		t.Errorf("got error %v, want ErrReplay", err)
	}
}

func TestPoolStartFails(t *testing.T) {
	t.Parallel()
	f := &fleet{fail: errors.New("no memory")}
	p := f.pool(t, 0)
	seat := p.Seat()
	for range 2 {
		if _, err := seat.Lease(t.Context()); !errors.Is(err, f.fail) {
			t.Fatalf("got error %v", err)
		}
	}
	if _, err := p.Protocol(t.Context()); !errors.Is(err, f.fail) {
		t.Fatalf("got error %v", err)
	}
	f.mu.Lock()
	f.fail = nil
	f.mu.Unlock()
	ask(t, seat)
}

func TestPoolCrash(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	seat, bystander := p.Seat(), p.Seat()
	configure(t, seat, "east")
	configure(t, bystander, "west")
	l, process := lease(t, seat)
	time.AfterFunc(20*time.Millisecond, func() { process.dead.Store(true) })
	crash := l.Fault()
	l.Release()
	if crash == nil || crash.PID != process.id || crash.Trace == "" {
		t.Fatalf("crash is %+v", crash)
	}
	if _, err := seat.Lease(t.Context()); !errors.Is(err, ErrCrashed) {
		t.Errorf("got error %v, want ErrCrashed", err)
	}
	if got := ask(t, bystander).config.Load(); got != "west" {
		t.Errorf("another configuration is served by %v", got)
	}
	fresh := p.Seat()
	configure(t, fresh, "east")
	if got := ask(t, fresh); got == process {
		t.Error("a new connection was given the dead process")
	}
	eventually(t, "the dead process is accounted for", func() bool { return p.Processes() == 2 })
	if got := p.Crashes(); len(got) != 1 {
		t.Errorf("%d crashes were recorded", len(got))
	}
}

func TestPoolCrashInConfigure(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, 0)
	lost := status.Error(codes.Unavailable, "lost")
	_, err := p.Seat().Configure(t.Context(), key("x"), func(_ context.Context, instance Instance) (Answer, error) {
		time.AfterFunc(20*time.Millisecond, func() { instance.(*fake).dead.Store(true) })
		return Answer{}, lost
	})
	if !errors.Is(err, lost) {
		t.Errorf("got error %v", err)
	}
	if got := p.Crashes(); len(got) != 1 || got[0].Trace == "" {
		t.Errorf("crashes are %v", got)
	}
}

func TestPoolFaultOfALivingProcess(t *testing.T) {
	t.Parallel()
	p := (&fleet{}).pool(t, 0)
	seat := p.Seat()
	l, _ := lease(t, seat)
	if crash := l.Fault(); crash != nil {
		t.Errorf("a living process crashed: %v", crash)
	}
	l.Release()
	ask(t, seat)
}

func TestPoolAbandonedWait(t *testing.T) {
	t.Parallel()
	f := &fleet{gate: make(chan struct{})}
	p := f.pool(t, 0)
	seat := p.Seat()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := seat.Lease(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if _, err := seat.Configure(ctx, key("x"), as("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	close(f.gate)
	// The start that was under way serves the next call.
	ask(t, seat)
	eventually(t, "only the unconfigured process is left", func() bool { return p.Processes() == 1 })
}

func TestPoolDedicated(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, time.Millisecond)
	one, two := p.Seat(), p.Seat()
	configure(t, one, "east")
	configure(t, two, "east")
	if err := one.Dedicate(); err != nil {
		t.Fatal(err)
	}
	l, own := lease(t, one)
	l.Pin()
	l.Release()
	if own.config.Load() != "east" {
		t.Errorf("the own process has configuration %v", own.config.Load())
	}
	if ask(t, two) == own || ask(t, one) != own {
		t.Error("the own process is shared or lost")
	}
}

func TestPoolClosed(t *testing.T) {
	t.Parallel()
	f := &fleet{gate: make(chan struct{})}
	p := NewPool(f.launch, 0)
	waiting := make(chan error)
	seat := p.Seat()
	go func() {
		_, err := seat.Lease(context.Background())
		waiting <- err
	}()
	eventually(t, "a start is under way", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.workers) == 1
	})
	p.Close()
	if err := <-waiting; err == nil {
		t.Error("a lease was given by a closed pool")
	}
	if _, err := p.Seat().Lease(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("got error %v, want ErrClosed", err)
	}
	p.Close()
}

func TestSeatRunning(t *testing.T) {
	t.Parallel()
	p := (&fleet{}).pool(t, 0)
	seat := p.Seat()
	if got := seat.Running(); len(got) != 0 {
		t.Errorf("%d processes work for a connection that never spoke", len(got))
	}
	ask(t, seat)
	entered, proceed := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		_, err := seat.Configure(context.Background(), key("slow"), func(context.Context, Instance) (Answer, error) {
			close(entered)
			<-proceed
			return Answer{Accepted: true}, nil
		})
		done <- err
	}()
	<-entered
	if got := seat.Running(); len(got) != 2 {
		t.Errorf("%d processes work for the connection, want the one being configured too", len(got))
	}
	close(proceed)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := seat.Running(); len(got) != 1 {
		t.Errorf("%d processes work for the connection", len(got))
	}
}
