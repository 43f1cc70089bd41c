// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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
	// maxSocketPath is the longest path of a unix socket, in bytes, that all
	// platforms accept.
	maxSocketPath = 103
)

// errClosing is the cause by which calls end when the host is closed.
var errClosing = errors.New("the provider proxy is shutting down")

// ErrSocketPath: the folder for sockets has a path that is too long for a unix
// socket.
var ErrSocketPath = errors.New("path is too long for a unix socket")

// Provider is one provider to be proxied.
type Provider struct {
	// Source is the full source address as the CLI in use writes it.
	Source string
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
	// SocketDir is where the private socket folder is made; empty means
	// os.TempDir. Socket paths are short by nature of the platform.
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

// Serve starts a proxy for each provider. Each provider is started once to
// learn which protocol version it speaks; that process then serves as its
// unconfigured one. The host takes over the pools: they are closed by
// [Host.Close], and by Serve itself when it fails.
func Serve(ctx context.Context, providers []Provider, options Options) (*Host, error) {
	h, err := newHost(options)
	if err != nil {
		return nil, errors.Join(err, closePools(providers))
	}
	err = h.open(ctx, providers, options.SocketDir)
	if err != nil {
		return nil, errors.Join(err, closePools(providers), h.removeDir())
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

func closePools(providers []Provider) error {
	var wg sync.WaitGroup
	for _, p := range providers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p.Pool.Close()
		}()
	}
	wg.Wait()
	return nil
}

// open prepares all providers and their sockets, but serves none.
func (h *Host) open(ctx context.Context, providers []Provider, socketDir string) error {
	if socketDir == "" {
		socketDir = os.TempDir()
	}
	dir, err := os.MkdirTemp(socketDir, "tfw")
	if err != nil {
		return fmt.Errorf("make socket folder: %w", err)
	}
	h.dir = dir
	if err := h.negotiate(ctx, providers); err != nil {
		return err
	}
	for i, p := range h.providers {
		if err := p.listen(filepath.Join(dir, strconv.Itoa(i))); err != nil {
			h.closeListeners()
			return fmt.Errorf("serve provider %s: %w", p.source, err)
		}
	}
	return nil
}

// negotiate starts the providers, a few at a time, and keeps them in order.
func (h *Host) negotiate(ctx context.Context, providers []Provider) error {
	h.providers = make([]*provider, len(providers))
	errs := make([]error, len(providers))
	sources := map[string]bool{}
	turn := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, given := range providers {
		if sources[given.Source] {
			errs[i] = fmt.Errorf("provider %s is given twice", given.Source)
			continue
		}
		sources[given.Source] = true
		wg.Add(1)
		go func() {
			defer wg.Done()
			turn <- struct{}{}
			defer func() { <-turn }()
			h.providers[i], errs[i] = h.prepare(ctx, given)
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (h *Host) prepare(ctx context.Context, given Provider) (*provider, error) {
	version, err := given.Pool.Protocol(ctx)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", given.Source, err)
	}
	if version != 5 && version != 6 {
		return nil, fmt.Errorf("provider %s speaks plugin protocol %d; only 5 and 6 are known", given.Source, version)
	}
	p := &provider{
		host: h, source: given.Source, pool: given.Pool, protocol: version,
		pkg: "tfplugin" + strconv.Itoa(version), plans: newPlanMemory(),
	}
	p.schemas = newSchemas(p)
	p.server = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(math.MaxInt32),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.StatsHandler(connTracker{provider: p}),
		grpc.UnknownServiceHandler(p.handle),
		grpc.WaitForHandlers(true),
	)
	return p, nil
}

func (p *provider) listen(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%w: %s has %d bytes, at most %d are possible; set TMPDIR to a shorter folder",
			ErrSocketPath, path, len(path), maxSocketPath)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	p.listener = listener
	return nil
}

func (p *provider) serve() {
	defer p.host.serving.Done()
	err := p.server.Serve(p.listener)
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		p.host.log.Error("provider proxy ended", "provider", p.source, "error", err)
	}
}

func (h *Host) closeListeners() {
	for _, p := range h.providers {
		if p != nil && p.listener != nil {
			_ = p.listener.Close()
		}
	}
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
