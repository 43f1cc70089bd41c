// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// told remembers whom a pool announced, and what each of them had been asked
// by then.
type told struct {
	mu      sync.Mutex
	senders []Sender
	err     error
}

func (a *told) announce(_ context.Context, s Sender) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.senders = append(a.senders, s)
	return a.err
}

func (a *told) pids() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var pids []int
	for _, s := range a.senders {
		pids = append(pids, s.PID)
	}
	slices.Sort(pids)
	return pids
}

func TestEveryProcessIsAnnouncedBeforeItsFirstCall(t *testing.T) {
	t.Parallel()
	f, a := &fleet{}, &told{}
	p := f.pool(t, 0)
	p.OnStart(a.announce)
	s := p.Seat()
	defer s.Close()
	first := ask(t, s)
	if got := a.pids(); !slices.Equal(got, []int{first.id}) {
		t.Fatalf("announced %v, want the unconfigured process", got)
	}
	answer, err := s.Configure(t.Context(), key("east"), func(_ context.Context, instance Instance) (Answer, error) {
		if !slices.Contains(a.pids(), instance.PID()) {
			t.Errorf("process %d is configured and was not announced", instance.PID())
		}
		return Answer{Accepted: true}, nil
	})
	if err != nil || !answer.Accepted {
		t.Fatal(answer, err)
	}
	east := ask(t, s)
	east.dead.Store(true)
	again := p.Seat()
	defer again.Close()
	configure(t, again, "east")
	if got, want := a.pids(), []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("announced %v, want %v: the replacement too", got, want)
	}
}

func TestAProcessThatCannotBeAnnouncedIsNotUsed(t *testing.T) {
	t.Parallel()
	refused := errors.New("nobody listens")
	f, a := &fleet{}, &told{err: refused}
	p := f.pool(t, 0)
	p.OnStart(a.announce)
	s := p.Seat()
	defer s.Close()
	if _, err := s.Lease(t.Context()); !errors.Is(err, refused) {
		t.Fatalf("error %v, want that of the announcement", err)
	}
	_, err := s.Configure(t.Context(), key("east"), func(context.Context, Instance) (Answer, error) {
		t.Error("a process was configured that was not announced")
		return Answer{Accepted: true}, nil
	})
	if !errors.Is(err, refused) {
		t.Errorf("error %v, want that of the announcement", err)
	}
	eventually(t, "the processes are ended", func() bool { return p.Processes() == 0 })
	for _, started := range f.started {
		if started.kills.Load() != 1 {
			t.Errorf("process %d was ended %d times", started.id, started.kills.Load())
		}
	}
	if n := len(p.Crashes()); n != 0 {
		t.Errorf("%d crashes were noted", n)
	}
	a.mu.Lock()
	a.err = nil
	a.mu.Unlock()
	ask(t, s)
}
