// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// Config is what a coordinator works with. Journal is required.
type Config struct {
	// Journal is where decisions are kept. The coordinator leads it; the
	// caller closes it after Close, so that the lock on it is released last.
	Journal journal.Journal
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Logger gets what operators want to know; nil discards it.
	Logger *slog.Logger
	// Version is of the program, Host of the machine, Store tells people
	// where the journal is; all are shown, never interpreted.
	Version, Host, Store string
	// Embedded says that the coordinator serves one user on one machine.
	Embedded bool
	// SnapshotEvery is after how many records a snapshot is taken; 0 means
	// DefaultSnapshotEvery.
	SnapshotEvery uint64
	// Retain is how many records before a snapshot are kept for people to
	// read; 0 means DefaultRetain.
	Retain uint64
	// WatchBuffer is how many events a watcher may lag behind before it is
	// dropped; 0 means DefaultWatchBuffer.
	WatchBuffer int
	// Refresh is how often waiting transactions learn that their place in the
	// queue changed; 0 means DefaultRefresh. An admission is told at once.
	Refresh time.Duration
}

// Defaults of Config.
const (
	DefaultSnapshotEvery = 4096
	DefaultRetain        = 65536
	DefaultWatchBuffer   = 1024
	DefaultRefresh       = 250 * time.Millisecond
)

const (
	// maxBatch and maxBatchBytes bound what is journalled in one append, and
	// so how long a command waits for its neighbours.
	maxBatch      = 256
	maxBatchBytes = 4 << 20
	// queueLength is how many commands may wait for the goroutine that owns
	// the state; further callers wait to be let in.
	queueLength = 1024
	// pauseSlack bounds how late the coordinator may wake before it takes that
	// for its own pause (a suspended machine), and not for the silence of the
	// sessions.
	pauseSlack = 5 * time.Second
)

// Errors that callers decide on, beside those of package admission.
var (
	// ErrUnavailable: the coordinator has lost its journal, or is closing. It
	// is not known whether the command took effect; asking again with the same
	// idempotency key is safe.
	ErrUnavailable = errors.New("the coordinator is not available")
	// ErrForeign: the transaction belongs to another session.
	ErrForeign = errors.New("the transaction belongs to another session")
	// ErrSlow: the watcher did not keep up and was dropped.
	ErrSlow = errors.New("the watcher fell too far behind")
	// ErrCredential: the credential is not one of this journal's sessions.
	ErrCredential = errors.New("the session credential is not valid")
	// ErrToken: whoever comes over a network has to show the coordinator's token.
	ErrToken = errors.New("the coordinator asks for its bearer token")
	// ErrProtocol: the client is of a version that means something else by what
	// it says.
	ErrProtocol = errors.New("the client speaks another protocol")
	// ErrBroken: the machine contradicted itself; nothing was journalled.
	ErrBroken = errors.New("internal error of the coordinator")
)

// Coordinator runs the protocol over one journal. Its methods may be called
// concurrently.
type Coordinator struct {
	config Config
	log    *slog.Logger
	now    func() time.Time
	secret []byte

	ops     chan *op
	stop    chan struct{}
	stopped chan struct{}
	closing sync.Once
	life    context.Context // ends when Close gives up waiting
	end     context.CancelFunc

	epoch atomic.Uint64
	index atomic.Uint64
	live  atomic.Int64
	// decided is how many commands wait for the next append.
	decided atomic.Int64

	realm realm // owned by the goroutine of run
}

// New leads the journal, loads the state behind it, grants every live session
// a full lease, and starts. It blocks until the journal may be led or ctx
// ends.
func New(ctx context.Context, config Config) (*Coordinator, error) {
	c := &Coordinator{
		config:  withDefaults(config),
		ops:     make(chan *op, queueLength),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	c.log, c.now = c.config.Logger, c.config.Clock
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.realm = newRealm(c)
	if err := c.realm.lead(ctx); err != nil {
		c.end()
		return nil, err
	}
	var err error
	if c.secret, err = c.config.Journal.Secret(ctx); err != nil {
		c.end()
		return nil, fmt.Errorf("read the journal's secret: %w", err)
	}
	go c.realm.run()
	return c, nil
}

func withDefaults(c Config) Config {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = DefaultSnapshotEvery
	}
	if c.Retain == 0 {
		c.Retain = DefaultRetain
	}
	if c.WatchBuffer == 0 {
		c.WatchBuffer = DefaultWatchBuffer
	}
	if c.Refresh == 0 {
		c.Refresh = DefaultRefresh
	}
	return c
}

// Close refuses new commands, lets the one being journalled finish, takes a
// last snapshot and returns. When ctx ends first, the rest is cut short.
func (c *Coordinator) Close(ctx context.Context) error {
	c.closing.Do(func() { close(c.stop) })
	defer c.end()
	select {
	case <-c.stopped:
		return nil
	case <-ctx.Done():
		c.end()
		<-c.stopped
		return ctx.Err()
	}
}

// Epoch numbers this leadership of the journal.
func (c *Coordinator) Epoch() uint64 { return c.epoch.Load() }

// Index is that of the last acknowledged record.
func (c *Coordinator) Index() uint64 { return c.index.Load() }

// Live is the number of sessions that have not ended.
func (c *Coordinator) Live() int { return int(c.live.Load()) }

// op is one thing to do for the goroutine that owns the state.
type op struct {
	ctx context.Context
	// command makes the command from the state, its time and the id that is
	// free for a new object; it may decide that there is nothing to do by
	// returning nil. A nil function is a mere question.
	command func(st *admission.State, stamp admission.Stamp, next uint64) (admission.Command, error)
	// after reads the answer from the state once the command is journalled.
	after func(st *admission.State) error
	// leaving is set for what needs no state: somebody who follows goes away.
	leaving bool
	err     error
	done    chan struct{}
	// taken is set by whoever comes first: the realm, which then runs after
	// and answers, or the caller, which has stopped waiting.
	taken atomic.Bool
}

// do hands an op over and waits for its answer. When ctx ends meanwhile the
// command may still take effect; what the op's command function noted must
// not be read after an error.
func (c *Coordinator) do(ctx context.Context, o *op) error {
	o.ctx, o.done = ctx, make(chan struct{})
	select {
	case c.ops <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.stop:
		return ErrUnavailable
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-o.done
		return o.err
	case <-c.stopped:
		return ErrUnavailable
	}
}

// ask runs a question on the state.
func (c *Coordinator) ask(ctx context.Context, f func(st *admission.State) error) error {
	return c.do(ctx, &op{after: f})
}

// Config is what the coordinator works with, defaults filled in.
func (c *Coordinator) Config() Config { return c.config }
