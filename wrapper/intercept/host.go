// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

const (
	// DefaultForwardLimit is how many changes are sent to providers at once
	// unless told otherwise; it is the CLI's own default parallelism.
	DefaultForwardLimit = 10
	// DefaultHangupGrace is how long a change that was already sent may go on
	// when the CLI is gone.
	DefaultHangupGrace = 30 * time.Minute
)

// errClosing is the cause by which calls end when the host is closed.
var errClosing = errors.New("the provider proxy is shutting down")

// Provider is one provider to be proxied.
type Provider struct {
	// Source is the full source address as the CLI in use writes it.
	Source string
	// Aliases are further keys under which the CLI is told of it, in place of
	// those that the user had set.
	Aliases []string
	// Protocol is the plugin protocol version that it speaks, where that is
	// known; it is not started before it is needed then. 0 makes Serve start it
	// to find out.
	Protocol int
	// Pool runs its processes. The host closes it.
	Pool *plugins.Pool
}

// Options say how a Host behaves.
type Options struct {
	// Gate decides about every change; it is required.
	Gate Gate
	// Watcher is told what passes; nil for nobody.
	Watcher Watcher
	// Logger gets the host's own lines, never values of a configuration or a
	// state; nil discards them.
	Logger *slog.Logger
	// ForwardLimit is how many changes are sent to providers at once, over all
	// providers; it stands for the user's -parallelism, which only then can be
	// raised for the CLI, so that waiting admissions do not use it up. 0 means
	// DefaultForwardLimit.
	ForwardLimit int
	// HangupGrace is how long a change may go on after the CLI hung up; 0
	// means DefaultHangupGrace. While the CLI waits there is no bound.
	HangupGrace time.Duration
	// SocketDir is where the private folder of the sockets is made; empty means
	// os.TempDir. Close removes it; what a killed process leaves is for the owner
	// of SocketDir to find. Socket paths are short by nature of the platform.
	SocketDir string
}

// Host serves the proxies of one or more providers.
type Host struct {
	gate        Gate
	watcher     Watcher
	log         *slog.Logger
	hangupGrace time.Duration
	// slots holds one token per change that is being sent.
	slots chan struct{}

	dir       string
	providers []*provider
	serving   sync.WaitGroup

	// closing ends when Close begins, abandoned when it runs out of patience.
	closing   context.Context
	beginEnd  context.CancelCauseFunc
	abandoned context.Context
	abandon   context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	// changes counts the ApplyResourceChange calls under way.
	changes   sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// provider is one proxied provider.
type provider struct {
	host     *Host
	source   string
	aliases  []string
	pool     *plugins.Pool
	protocol int
	// pkg is the protobuf package of its protocol version.
	pkg     string
	schemas *schemas
	plans   *planMemory
	// configurations are those that it was given and accepted.
	configurations configurations
	listener       net.Listener
	server         *grpc.Server
}

// Serve starts a proxy for each provider. A provider whose protocol version is
// not known is started to learn it; that process then serves as its
// unconfigured one. The host takes over the pools: they are closed by
// [Host.Close], and by Serve itself when it fails.
func Serve(ctx context.Context, providers []Provider, options Options) (*Host, error) {
	h, err := newHost(options)
	if err != nil {
		closePools(providers)
		return nil, err
	}
	err = h.open(ctx, providers, options.SocketDir)
	if err != nil {
		closePools(providers)
		return nil, errors.Join(err, h.removeDir())
	}
	for _, p := range h.providers {
		h.serving.Add(1)
		go p.serve()
	}
	return h, nil
}

func newHost(options Options) (*Host, error) {
	if options.Gate == nil {
		return nil, errors.New("serve providers: no gate")
	}
	limit := options.ForwardLimit
	if limit <= 0 {
		limit = DefaultForwardLimit
	}
	h := &Host{
		gate: options.Gate, watcher: options.Watcher, log: options.Logger,
		hangupGrace: options.HangupGrace, slots: make(chan struct{}, limit),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.hangupGrace <= 0 {
		h.hangupGrace = DefaultHangupGrace
	}
	h.closing, h.beginEnd = context.WithCancelCause(context.Background())
	h.abandoned, h.abandon = context.WithCancelCause(context.Background())
	return h, nil
}

func closePools(providers []Provider) {
	var wg sync.WaitGroup
	for _, p := range providers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.Pool.Close()
		}()
	}
	wg.Wait()
}

func (h *Host) removeDir() error {
	if h.dir == "" {
		return nil
	}
	return os.RemoveAll(h.dir)
}

// Processes returns how many provider processes are running.
func (h *Host) Processes() int {
	n := 0
	for _, p := range h.providers {
		n += p.pool.Processes()
	}
	return n
}

// Crash is a provider process that ended by itself.
type Crash struct {
	// Provider is the full source address.
	Provider string
	// PID is the process id that it had.
	PID int
	// Trace is the panic trace that it printed. The CLI prints none for a
	// provider that it did not start, so it is for the host's user to print.
	Trace string
}

// Crashes returns the provider processes that ended by themselves, in order
// per provider.
func (h *Host) Crashes() []Crash {
	var all []Crash
	for _, p := range h.providers {
		for _, c := range p.pool.Crashes() {
			all = append(all, Crash{Provider: p.source, PID: c.PID, Trace: c.Trace})
		}
	}
	return all
}

// Schema returns the schema of a resource type of a provider. It asks the
// provider when nobody has yet.
func (h *Host) Schema(ctx context.Context, source, resourceType string) (*Schema, error) {
	if p := h.provider(source); p != nil {
		return p.schemas.resource(ctx, resourceType)
	}
	return nil, fmt.Errorf("provider %s is not proxied", source)
}

// provider returns the proxied provider of a source address, nil for none.
func (h *Host) provider(source string) *provider {
	for _, p := range h.providers {
		if p.source == source {
			return p
		}
	}
	return nil
}

// begin counts a change in, unless the host is closing.
func (h *Host) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.changes.Add(1)
	return true
}

// Close ends the host: waiting admissions are refused, changes that were
// already sent are awaited until ctx ends and then abandoned with an unknown
// outcome, and every process is ended. It is called when the CLI has exited.
// Further calls wait for the first and return its result.
func (h *Host) Close(ctx context.Context) error {
	h.closeOnce.Do(func() { h.closeErr = h.close(ctx) })
	return h.closeErr
}

func (h *Host) close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.beginEnd(errClosing)
	abandon := context.AfterFunc(ctx, func() { h.abandon(errClosing) })
	h.changes.Wait()
	abandon()
	var wg sync.WaitGroup
	for _, p := range h.providers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.server.Stop()
			p.pool.Close()
		}()
	}
	wg.Wait()
	h.serving.Wait()
	h.abandon(errClosing)
	return h.removeDir()
}
