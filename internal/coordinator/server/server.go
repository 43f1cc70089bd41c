// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/liveness"
)

// Protocol is the version of the API's semantics.
const Protocol = 1

const (
	// maxMessage bounds a message: a forecast of some thousand changes.
	maxMessage = 32 << 20
	// maxStreams bounds what one connection may have under way.
	maxStreams = 1024
	// handshake is how long a connection may take to become one.
	handshake = 20 * time.Second
	// maxHeader bounds the metadata of a call.
	maxHeader = 16 << 10
	// farewell is for how long answers under way are waited for at the end.
	farewell = 2 * time.Second
)

// Server serves one coordinator.
type Server struct {
	weaverv1.UnimplementedCoordinatorServer
	c     *coordinator.Coordinator
	log   *slog.Logger
	grpc  *grpc.Server
	conns connections
	kin   *liveness.Registry
	guard *Guard // nil where nothing listens on a network
	// removed says that the journal was taken away; nil where it cannot be.
	removed func() bool
	// life ends when the server stops.
	life context.Context
	quit context.CancelFunc
}

// Option is a choice for New.
type Option func(*Server)

// Processes names the file in which is kept what is known of the processes of
// sessions, so that a session whose processes died while nobody served is found
// dead. It belongs to the journal, and to the machine. Without it nothing is
// kept.
func Processes(path string) Option {
	return func(s *Server) { s.kin = liveness.Open(path, s.log) }
}

// Guarded lets connections in that come over a network, as far as the guard
// does; without it they are refused.
func Guarded(g *Guard) Option {
	return func(s *Server) { s.guard = g }
}

// New returns a server that listens nowhere yet.
func New(c *coordinator.Coordinator, options ...Option) *Server {
	s := &Server{c: c, log: c.Config().Logger}
	s.life, s.quit = context.WithCancel(context.Background())
	for _, o := range options {
		o(s)
	}
	if s.kin == nil {
		s.kin = liveness.Open("", s.log)
	}
	s.grpc = grpc.NewServer(append(s.guard.options(),
		grpc.Creds(&door{guard: s.guard}),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.ConnectionTimeout(handshake),
		grpc.StatsHandler(&s.conns),
	)...)
	weaverv1.RegisterCoordinatorServer(s.grpc, s)
	return s
}

// Serve answers on l until ctx ends, or until there was neither a live session
// nor a connection nor a held lock for idle (0: never). It closes l, but neither the
// coordinator nor its journal. It returns nil after an orderly end.
func (s *Server) Serve(ctx context.Context, l net.Listener, idle time.Duration) error {
	served, mourned := make(chan error, 1), make(chan struct{})
	go func() { served <- s.grpc.Serve(l) }()
	go func() {
		defer close(mourned)
		if err := s.kin.Watch(s.life, s.c); err != nil {
			s.log.Warn("nobody watches processes; only the end of leases tells who is gone", "error", err)
		}
	}()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	case <-s.idle(ctx, idle):
		s.log.Info("nobody is here any more", "idle", idle)
	}
	s.stop()
	<-mourned
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// stop lets answers under way out, but waits for nobody's stream.
func (s *Server) stop() {
	s.quit()
	timer := time.AfterFunc(farewell, s.grpc.Stop)
	defer timer.Stop()
	s.grpc.GracefulStop()
}

// whileServing is ctx, ended also by the end of the server: no stream holds
// that up.
func (s *Server) whileServing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// orQuitting names the end of the server where it is the cause of an error.
func (s *Server) orQuitting(err error) error {
	if err != nil && s.life.Err() != nil {
		return coordinator.ErrUnavailable
	}
	return err
}

// idle closes the channel it returns once nobody was here for a time.
func (s *Server) idle(ctx context.Context, limit time.Duration) <-chan struct{} {
	if limit <= 0 {
		return nil
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(min(max(limit/8, 5*time.Millisecond), time.Second))
		defer tick.Stop()
		busy := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.life.Done():
				return
			case now := <-tick.C:
				if s.conns.open.Load() > 0 || s.c.Live() > 0 {
					busy = now
				} else if now.Sub(busy) >= limit {
					if s.holding(ctx) {
						busy = now
						continue
					}
					close(done)
					return
				}
			}
		}
	}()
	return done
}

// holding says whether a transaction holds locks. One with an unknown outcome
// does so after its session has ended, and people have to be able to see it.
func (s *Server) holding(ctx context.Context) bool {
	if s.removed != nil && s.removed() {
		return false // nobody can come to see it
	}
	n, err := s.c.Holding(ctx)
	return n > 0 && err == nil
}

// connections counts the open connections.
type connections struct{ open atomic.Int64 }

var _ stats.Handler = (*connections)(nil)

// TagRPC implements stats.Handler.
func (*connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (*connections) HandleRPC(context.Context, stats.RPCStats) {}

// TagConn implements stats.Handler.
func (*connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *connections) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.open.Add(1)
	case *stats.ConnEnd:
		c.open.Add(-1)
	}
}
