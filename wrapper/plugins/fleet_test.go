// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
)

// fake is a provider process that only counts.
type fake struct {
	id     int
	dead   atomic.Bool
	kills  atomic.Int32
	config atomic.Value
}

func (f *fake) Conn() grpc.ClientConnInterface { return nil }
func (f *fake) Protocol() int                  { return 6 }
func (f *fake) PID() int                       { return f.id }
func (f *fake) Sender() Sender                 { return Sender{PID: f.id, Started: "then"} }
func (f *fake) Exited() bool                   { return f.dead.Load() }
func (f *fake) Trace() string                  { return fmt.Sprintf("panic in %d", f.id) }
func (f *fake) Kill()                          { f.kills.Add(1); f.dead.Store(true) }

// fleet starts fakes and remembers them.
type fleet struct {
	mu      sync.Mutex
	started []*fake
	// gate holds back starts until it is closed; nil does not.
	gate chan struct{}
	fail error
}

func (f *fleet) launch(ctx context.Context) (Instance, error) {
	f.mu.Lock()
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	p := &fake{id: len(f.started) + 1}
	f.started = append(f.started, p)
	return p, nil
}

func (f *fleet) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.started)
}

func (f *fleet) pool(t *testing.T, idle time.Duration) *Pool {
	t.Helper()
	p := NewPool(f.launch, idle)
	t.Cleanup(p.Close)
	return p
}

func key(name string) Key { return Key([]byte(fmt.Sprintf("%-32s", name))) }

// as is a configuration that a fake accepts.
func as(name string) Configurer {
	return func(_ context.Context, instance Instance) (Answer, error) {
		instance.(*fake).config.Store(name)
		return Answer{Message: []byte(name), Accepted: true}, nil
	}
}

func configure(t *testing.T, s *Seat, name string) {
	t.Helper()
	answer, err := s.Configure(t.Context(), key(name), as(name))
	if err != nil || !answer.Accepted || string(answer.Message) != name {
		t.Fatalf("configure %s: %+v, %v", name, answer, err)
	}
}

// lease takes a lease that the test must release.
func lease(t *testing.T, s *Seat) (*Lease, *fake) {
	t.Helper()
	l, err := s.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Instance().(*fake)
}

// ask makes one call and returns the process that served it.
func ask(t *testing.T, s *Seat) *fake {
	t.Helper()
	l, f := lease(t, s)
	l.Release()
	return f
}
