// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"google.golang.org/grpc"
)

// maxSocketPath is the longest path of a unix socket, in bytes, that all
// platforms accept.
const maxSocketPath = 103

// ErrSocketPath: the folder for sockets has a path that is too long for a unix
// socket.
var ErrSocketPath = errors.New("path is too long for a unix socket")

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
	version, err := given.protocol(ctx)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", given.Source, err)
	}
	if version != 5 && version != 6 {
		return nil, fmt.Errorf("provider %s speaks plugin protocol %d; only 5 and 6 are known", given.Source, version)
	}
	p := &provider{
		host: h, source: given.Source, aliases: given.Aliases, pool: given.Pool, protocol: version,
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

// protocol is the plugin protocol version of a provider.
func (p Provider) protocol(ctx context.Context) (int, error) {
	if p.Protocol != 0 {
		return p.Protocol, nil
	}
	return p.Pool.Protocol(ctx)
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
