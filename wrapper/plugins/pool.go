// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Instance is one running provider. [Process] is the real one.
type Instance interface {
	// Conn is the connection to it.
	Conn() grpc.ClientConnInterface
	// Protocol is the plugin protocol version it speaks, 5 or 6.
	Protocol() int
	// PID is its process id.
	PID() int
	// Sender identifies it to others.
	Sender() Sender
	// Exited reports whether it has ended.
	Exited() bool
	// Trace is the panic trace that it left, if any.
	Trace() string
	// Kill ends it and waits until it is gone; it may be called repeatedly.
	Kill()
}

// Launcher starts one instance. ctx bounds the start only. What it returns
// beside an error is not looked at.
type Launcher func(ctx context.Context) (Instance, error)

// Key tells provider configurations apart: a hash over everything that makes
// two configured processes differ. The zero Key stands for "not configured".
type Key [sha256.Size]byte

// Configurer gives a fresh instance its configuration and returns the answer.
// It is called again, with the same effect, when the instance had to be
// replaced.
type Configurer func(ctx context.Context, instance Instance) (Answer, error)

// Answer is a provider's answer to its configuration.
type Answer struct {
	// Message is the encoded answer; every later connection with the same
	// configuration gets it too.
	Message []byte
	// Accepted is false when the provider refused the configuration.
	Accepted bool
}

// DefaultIdle is how long a configured process may be idle before it is ended
// to give back its memory. Its connections get another one when they speak
// again.
const DefaultIdle = 30 * time.Second

const (
	// crowdIdle is how long a configured process may be idle when another one is
	// needed. The CLI says nothing at the end of a walk over its graph; when the
	// next walk configures its providers otherwise, as the runs of a test do,
	// processes of the last one have nothing to do any more.
	crowdIdle = 2 * time.Second
	// briefIdle is how long a process stays idle that is used now and then.
	briefIdle = time.Second
)

var (
	// ErrClosed: the pool was closed.
	ErrClosed = errors.New("provider pool is closed")
	// ErrCrashed is wrapped by [CrashError].
	ErrCrashed = errors.New("provider process crashed")
	// ErrReplay: a replacement process refused the configuration that its
	// predecessor had accepted.
	ErrReplay = errors.New("provider refused its own configuration after a restart")
)

// CrashError reports a process that ended by itself.
type CrashError struct {
	// PID is the process id that it had.
	PID int
	// Trace is the panic trace that it printed; empty when none.
	Trace string
}

// Error names the process; the trace is left to whoever prints the summary.
func (e *CrashError) Error() string { return ErrCrashed.Error() }

// Unwrap returns ErrCrashed.
func (e *CrashError) Unwrap() error { return ErrCrashed }

// Pool keeps the processes of one provider: one that was never configured,
// and one per distinct configuration.
//
// The CLI opens a connection for every provider instance of every graph walk
// and, under reattach, closes none before it exits. A process per connection
// would pile up (ten for one provider with two aliases in a single apply); one
// process for all would mix up the configurations, since the last one wins.
//
// Processes are started at the first call that needs them. A configured
// process is ended when it was idle for a while, or for a shorter one when another
// is needed, or when its last connection is gone, but never while a call is in flight or an ephemeral resource is open.
type Pool struct {
	launch Launcher
	idle   time.Duration
	// attached is set when there is but one process, of somebody else.
	attached bool
	ctx      context.Context
	cancel   context.CancelFunc

	mu       sync.Mutex
	announce Announcer
	closed   bool
	workers  map[Key]*worker
	live     int
	crashes  []*CrashError
	// background counts the goroutines that start and end processes.
	background sync.WaitGroup
}

// worker is one process of the pool, or the attempt to start it. Its fields
// are guarded by Pool.mu; instance, answer and err are constant once ready is
// closed.
type worker struct {
	key      Key
	ready    chan struct{}
	instance Instance
	answer   Answer
	err      error
	// crash is set when the process ended by itself.
	crash *CrashError
	// retired is set when the pool ended the process.
	retired bool
	// busy counts calls in flight, pins open ephemeral resources, seats the
	// connections that use the process.
	busy, pins, seats int
	// quiet counts how often the worker became idle, so that a timer of an
	// earlier idle time is recognised.
	quiet int
	timer *time.Timer
	// idleSince is when the worker became idle; zero while it is at work.
	idleSince time.Time
	// brief is set when the worker is not worth to be kept for long.
	brief bool
}

// NewPool returns an empty pool. Configured processes are ended after being
// idle for the given time; 0 means never. Close must be called.
func NewPool(launch Launcher, idle time.Duration) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pool{launch: launch, idle: idle, ctx: ctx, cancel: cancel, workers: map[Key]*worker{}}
}

// NewAttachedPool returns a pool of the one process of a provider that runs
// already ([Attach]). As the CLI itself does, all connections use it, and each
// configures it anew: that several configurations get into each other's way is
// so without the pool, too. Close must be called.
func NewAttachedPool(running Running) *Pool {
	p := NewPool(func(ctx context.Context) (Instance, error) { return Attach(ctx, running) }, 0)
	p.attached = true
	return p
}

// Attached says whether the process is somebody else's.
func (p *Pool) Attached() bool { return p.attached }

// Protocol returns the plugin protocol version of the provider. It starts the
// process that stays unconfigured when there is none yet.
func (p *Pool) Protocol(ctx context.Context) (int, error) {
	seat := p.Seat()
	defer seat.Close()
	lease, err := seat.Lease(ctx)
	if err != nil {
		return 0, err
	}
	defer lease.Release()
	return lease.Instance().Protocol(), nil
}

// Processes returns how many processes are running.
func (p *Pool) Processes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live
}

// Crashes returns the processes that ended by themselves, oldest first.
func (p *Pool) Crashes() []*CrashError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*CrashError(nil), p.crashes...)
}

// Close ends every process and waits until all are gone. Calls in flight fail;
// callers drain them first.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.cancel()
		for _, w := range p.workers {
			p.retire(w)
		}
	}
	p.mu.Unlock()
	p.background.Wait()
}

// obtain returns the worker of a key, started if need be. Called with mu held.
func (p *Pool) obtain(key Key, configure Configurer) (*worker, error) {
	if p.closed {
		return nil, ErrClosed
	}
	if w := p.workers[key]; w != nil {
		return w, nil
	}
	if key != (Key{}) {
		p.thin(time.Now().Add(-crowdIdle))
	}
	w := &worker{key: key, ready: make(chan struct{})}
	p.workers[key] = w
	p.background.Add(1)
	go p.start(w, configure)
	return w, nil
}

// thin retires the workers that have been idle since before a time. Called with mu
// held.
func (p *Pool) thin(before time.Time) {
	if p.idle == 0 {
		return
	}
	for _, w := range p.workers {
		if !w.idleSince.IsZero() && w.idleSince.Before(before) {
			p.retire(w)
		}
	}
}

// start launches and configures a worker. It is bound to the pool and not to
// the call that came first, because others may be waiting for it too.
func (p *Pool) start(w *worker, configure Configurer) {
	defer p.background.Done()
	answer, err := p.bring(w, configure)
	p.mu.Lock()
	defer p.mu.Unlock()
	w.answer, w.err = answer, err
	close(w.ready)
	if err != nil {
		p.noteCrash(w)
	}
	if err != nil || !answer.Accepted || w.retired {
		p.forget(w)
		p.end(w)
	}
}

// bring launches a process for a worker and configures it.
func (p *Pool) bring(w *worker, configure Configurer) (Answer, error) {
	instance, err := p.launch(p.ctx)
	if err != nil {
		return Answer{}, err
	}
	p.mu.Lock()
	w.instance = instance
	p.live++
	p.mu.Unlock()
	if err := p.tell(instance); err != nil {
		return Answer{}, fmt.Errorf("announce provider process: %w", err)
	}
	if configure == nil {
		return Answer{Accepted: true}, nil
	}
	answer, err := configure(p.ctx, instance)
	if status.Code(err) == codes.Unavailable {
		awaitExit(instance)
	}
	return answer, err
}

// crashGrace is how long a process may take to be seen dead after its
// connection broke: the last of its output is read first.
const crashGrace = 2 * time.Second

// awaitExit waits for a process of which a call failed in transport, in case
// it is dying.
func awaitExit(instance Instance) {
	deadline := time.Now().Add(crashGrace)
	for !instance.Exited() && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
}

// forget makes sure that nobody new is given the worker. Called with mu held.
func (p *Pool) forget(w *worker) {
	if p.workers[w.key] == w {
		delete(p.workers, w.key)
	}
}

// retire ends a worker on purpose. A worker that is still starting is ended by
// start. Called with mu held.
func (p *Pool) retire(w *worker) {
	if w.retired {
		return
	}
	w.retired = true
	p.forget(w)
	select {
	case <-w.ready:
		p.end(w)
	default:
	}
}

// end kills the worker's process in the background. Called with mu held, once
// per worker.
func (p *Pool) end(w *worker) {
	w.retired = true
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.instance == nil {
		return
	}
	p.background.Add(1)
	go func() {
		defer p.background.Done()
		w.instance.Kill()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.live--
	}()
}

// noteCrash records that a worker's process ended by itself and reports
// whether it did. Called with mu held.
func (p *Pool) noteCrash(w *worker) bool {
	if w.crash != nil {
		return true
	}
	if w.retired || w.instance == nil || !w.instance.Exited() {
		return false
	}
	w.crash = &CrashError{PID: w.instance.PID(), Trace: w.instance.Trace()}
	p.crashes = append(p.crashes, w.crash)
	p.forget(w)
	return true
}

// rest is called with mu held whenever a worker may have become idle.
func (p *Pool) rest(w *worker) {
	if w.busy > 0 || w.pins > 0 || w.retired || w.crash != nil || w.key == (Key{}) {
		return
	}
	if w.seats == 0 {
		p.retire(w)
		return
	}
	w.idleSince = time.Now()
	if p.idle == 0 {
		return
	}
	w.quiet++
	quiet, idle := w.quiet, p.idle
	if w.brief {
		idle = min(idle, briefIdle)
	}
	w.timer = time.AfterFunc(idle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.quiet == quiet && w.busy == 0 && w.pins == 0 {
			p.retire(w)
		}
	})
}

// wake is called with mu held when a worker gets something to do.
func (w *worker) wake() {
	w.quiet++
	w.idleSince = time.Time{}
	if w.timer != nil {
		w.timer.Stop()
	}
}
