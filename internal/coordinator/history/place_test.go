// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package history

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// store is where coordinators keep their records, one after another.
type store struct {
	open func() (journal.Journal, error)
	// shared: a second leader need not wait for the death of the first.
	shared bool
}

func onDisk(t *testing.T) store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	return store{open: func() (journal.Journal, error) { return bboltjournal.Open(dir) }}
}

func inMemory() store {
	s := memjournal.NewStore()
	return store{shared: true, open: func() (journal.Journal, error) { return s.Open(), nil }}
}

// place is where one coordinator serves after another.
type place struct {
	t     *testing.T
	dir   string // of the sockets
	link  string // to the socket of whoever serves; empty for none
	store store
	heard *recorder
	lie   func(journal.Journal) journal.Journal // nil for an honest journal

	mu    sync.Mutex
	life  *life
	count int
	conns map[net.Conn]struct{}
}

// life is one coordinator that serves.
type life struct {
	address string
	journal *mortal
	c       *coordinator.Coordinator
	stop    context.CancelFunc
	served  chan error
}

// begin starts the next coordinator.
func (p *place) begin() {
	p.t.Helper()
	j, err := p.store.open()
	if err != nil {
		p.t.Fatal(err)
	}
	if p.lie != nil {
		j = p.lie(j)
	}
	l := &life{journal: newMortal(j), served: make(chan error, 1)}
	l.c, err = coordinator.New(context.Background(), coordinator.Config{
		Journal: l.journal, SnapshotEvery: 40, Retain: 16, Refresh: 5 * time.Millisecond,
	})
	if err != nil {
		p.t.Fatalf("New: %v", err)
	}
	p.count++
	l.address = filepath.Join(p.dir, fmt.Sprint(p.count))
	listener, err := server.Listen(context.Background(), "unix://"+l.address)
	if err != nil {
		p.t.Fatalf("Listen: %v", err)
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	go func() { l.served <- server.New(l.c).Serve(ctx, listener, 0) }()
	if p.link != "" {
		err = errors.Join(os.Symlink(l.address, l.address+"l"), os.Rename(l.address+"l", p.link))
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = l
}

// away lets nobody in any more.
func (p *place) away() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.life
	p.life = nil
	return l
}

// end is an orderly end.
func (p *place) end() {
	p.t.Helper()
	l := p.away()
	p.bury(l)
	if err := l.journal.Close(); err != nil {
		p.t.Errorf("Close of the journal: %v", err)
	}
	p.heard.died()
}

// bury ends what is left of a coordinator.
func (p *place) bury(l *life) {
	p.t.Helper()
	l.stop()
	if err := <-l.served; err != nil {
		p.t.Errorf("Serve: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.c.Close(ctx); err != nil {
		p.t.Errorf("Close: %v", err)
	}
}

// crash lets the coordinator die within its next append, written or not, and
// begins another one. Only then does the append of the dead one return.
func (p *place) crash(written bool, poke func()) {
	p.t.Helper()
	p.mu.Lock()
	l := p.life
	p.mu.Unlock()
	within := l.journal.die(written)
	for waiting := true; waiting; {
		select {
		case <-within:
			waiting = false
		case <-time.After(5 * time.Millisecond):
			poke() // so that there is something to append
		}
	}
	p.away()
	p.sever()
	if !p.store.shared {
		if err := l.journal.Journal.Close(); err != nil {
			p.t.Errorf("Close of the dead one's journal: %v", err)
		}
	}
	p.begin()
	p.heard.died()
	if err := l.journal.rise(); p.lie == nil && !errors.Is(err, journal.ErrFenced) && !errors.Is(err, journal.ErrClosed) {
		p.t.Errorf("the dead one's append behind its successor's back: %v; want it fenced", err)
	}
	p.bury(l)
	if p.store.shared {
		_ = l.journal.Journal.Close()
	}
}

// sever cuts all connections.
func (p *place) sever() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

// connect waits for somebody who serves.
func (p *place) connect(ctx context.Context, _ string) (net.Conn, error) {
	for {
		p.mu.Lock()
		l := p.life
		p.mu.Unlock()
		if l != nil {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "unix", l.address)
			if err == nil {
				p.mu.Lock()
				p.conns[conn] = struct{}{}
				p.mu.Unlock()
			}
			return conn, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p *place) dial(options ...grpc.DialOption) *grpc.ClientConn {
	p.t.Helper()
	conn, err := grpc.NewClient("passthrough:///weaver", append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(p.connect),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: time.Millisecond, Multiplier: 1.5, MaxDelay: 10 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
	)...)
	if err != nil {
		p.t.Fatal(err)
	}
	return conn
}
