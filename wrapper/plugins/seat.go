// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"crypto/rand"
	"fmt"

	"google.golang.org/grpc"
)

// Seat is the place of one CLI connection in the pool: it remembers the
// configuration that the connection gave and leads its calls to the process
// that has it. A Seat is safe for concurrent use.
type Seat struct {
	pool *Pool
	// The fields below are guarded by pool.mu.
	key       Key
	configure Configurer
	// worker is the one last used; nil before the first call.
	worker *worker
	// pending is a worker whose configuration is under way.
	pending *worker
	// pins are the worker's pins that this seat holds.
	pins   int
	closed bool
	// brief is set when the seat's own process is not worth to be kept for long.
	brief bool
}

// Seat returns a seat that is not configured yet. It must be closed.
func (p *Pool) Seat() *Seat { return &Seat{pool: p} }

// BriefSeat returns a seat whose process is ended soon after each use; nobody
// else must use its configuration's key. It must be closed.
func (p *Pool) BriefSeat() *Seat { return &Seat{pool: p, brief: true} }

// Configure moves the seat to the process with the given configuration, which
// is started if need be, and returns the answer of that process. The seat
// stays where it was when the provider does not accept.
func (s *Seat) Configure(ctx context.Context, key Key, configure Configurer) (Answer, error) {
	if s.pool.attached {
		return s.configureAttached(ctx, configure)
	}
	w, err := s.enter(key, configure)
	if err != nil {
		return Answer{}, err
	}
	defer s.leave(w)
	if err := w.await(ctx); err != nil {
		return Answer{}, err
	}
	if w.answer.Accepted {
		s.sit(w, key, configure)
	}
	return w.answer, nil
}

// configureAttached passes the configuration on to the only process.
func (s *Seat) configureAttached(ctx context.Context, configure Configurer) (Answer, error) {
	lease, err := s.Lease(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer lease.Release()
	return configure(ctx, lease.Instance())
}

func (s *Seat) enter(key Key, configure Configurer) (*worker, error) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	// The process may have died unnoticed since its last call.
	if old := s.pool.workers[key]; old != nil {
		s.pool.bury(old)
	}
	w, err := s.pool.obtain(key, configure)
	if err != nil {
		return nil, err
	}
	w.busy++
	w.wake()
	w.brief = s.brief
	s.pending = w
	return w, nil
}

func (s *Seat) leave(w *worker) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.pending == w {
		s.pending = nil
	}
	w.busy--
	s.pool.rest(w)
}

// await blocks until the worker can be used.
func (w *worker) await(ctx context.Context) error {
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sit moves the seat to a worker.
func (s *Seat) sit(w *worker, key Key, configure Configurer) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.key, s.configure = key, configure
	s.change(w)
}

// change is called with pool.mu held.
func (s *Seat) change(w *worker) {
	if s.worker == w || s.closed {
		return
	}
	s.vacate()
	s.worker = w
	w.seats++
}

// vacate gives up the seat's worker. Called with pool.mu held.
func (s *Seat) vacate() {
	w := s.worker
	if w == nil {
		return
	}
	s.worker = nil
	w.seats--
	w.pins -= s.pins
	s.pins = 0
	s.pool.rest(w)
}

// Dedicate gives the seat a process of its own from the next call on, with the
// configuration that it has so far. It is for calls that leave further state
// of the connection in the process; the caller pins that process. An attached
// process is the only one there is.
func (s *Seat) Dedicate() error {
	if s.pool.attached {
		return nil
	}
	var key Key
	if _, err := rand.Read(key[:]); err != nil {
		return fmt.Errorf("choose a process key: %w", err)
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.vacate()
	s.key = key
	return nil
}

// Lease is the right to make one call. It keeps its process from being
// retired.
type Lease struct {
	seat   *Seat
	worker *worker
}

// Lease returns the process for the next call, started (and configured again)
// if need be. The error is a *CrashError when the process of this connection
// has died: as under the CLI itself, what it was told is lost with it, and
// only a new connection gets another.
func (s *Seat) Lease(ctx context.Context) (*Lease, error) {
	w, err := s.take()
	if err != nil {
		return nil, err
	}
	lease := &Lease{seat: s, worker: w}
	err = w.await(ctx)
	if err == nil && !w.answer.Accepted {
		err = ErrReplay
	}
	if err != nil {
		lease.Release()
		s.unseat(w)
		return nil, err
	}
	return lease, nil
}

func (s *Seat) take() (*worker, error) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	w := s.worker
	if w != nil && p.bury(w) {
		return nil, w.crash
	}
	if w == nil || w.retired {
		if old := p.workers[s.key]; old != nil {
			p.bury(old)
		}
		fresh, err := p.obtain(s.key, s.configure)
		if err != nil {
			return nil, err
		}
		s.change(fresh)
		w = fresh
	}
	w.busy++
	w.wake()
	w.brief = s.brief
	return w, nil
}

// bury takes a worker whose process has died out of the pool and reports
// whether it has. Called with mu held.
func (p *Pool) bury(w *worker) bool {
	select {
	case <-w.ready:
	default:
		return false
	}
	if w.crash == nil && p.noteCrash(w) {
		p.end(w)
	}
	return w.crash != nil
}

// unseat lets the seat try again after a start that failed.
func (s *Seat) unseat(w *worker) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.worker == w && w.crash == nil && w.failed() {
		s.vacate()
	}
}

// failed reports whether the worker never became usable.
func (w *worker) failed() bool {
	select {
	case <-w.ready:
		return w.err != nil || !w.answer.Accepted
	default:
		return false
	}
}

// Release ends the lease; it is called exactly once.
func (l *Lease) Release() { l.seat.leave(l.worker) }

// Instance returns the process of the lease.
func (l *Lease) Instance() Instance { return l.worker.instance }

// Conn returns the connection to the process of the lease.
func (l *Lease) Conn() grpc.ClientConnInterface { return l.worker.instance.Conn() }

// Fault is called when a call failed in transport. It returns the crash when
// the process has died, with the trace complete, and nil when it still lives
// or was ended by the pool.
func (l *Lease) Fault() *CrashError {
	if l.seat.pool.attached {
		return nil
	}
	if crash, settled := l.post(); settled {
		return crash
	}
	awaitExit(l.worker.instance)
	crash, _ := l.post()
	return crash
}

// post looks at what has become of the process; settled is false while it may
// still turn out to be dead.
func (l *Lease) post() (crash *CrashError, settled bool) {
	l.seat.pool.mu.Lock()
	defer l.seat.pool.mu.Unlock()
	if l.seat.pool.bury(l.worker) {
		return l.worker.crash, true
	}
	return nil, l.worker.retired
}

// Pin keeps the seat's process alive although no call is in flight, until
// Unpin or Close. Called while holding a lease.
func (l *Lease) Pin() {
	l.seat.pool.mu.Lock()
	defer l.seat.pool.mu.Unlock()
	if l.seat.worker == l.worker {
		l.seat.pins++
		l.worker.pins++
	}
}

// Unpin takes back one Pin.
func (l *Lease) Unpin() {
	l.seat.pool.mu.Lock()
	defer l.seat.pool.mu.Unlock()
	if l.seat.worker == l.worker && l.seat.pins > 0 {
		l.seat.pins--
		l.worker.pins--
	}
}

// Running returns the processes that work for the seat right now, one that is
// being configured included. It starts none.
func (s *Seat) Running() []Instance {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	var running []Instance
	for _, w := range []*worker{s.worker, s.pending} {
		if w != nil && w.instance != nil && !w.retired {
			running = append(running, w.instance)
		}
	}
	if len(running) == 2 && running[0] == running[1] {
		running = running[:1]
	}
	return running
}

// Close gives up the seat. Leases that are still held stay valid.
func (s *Seat) Close() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.vacate()
	s.closed = true
}
