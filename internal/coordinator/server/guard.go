// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/tap"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

// networkScheme begins the addresses of coordinators that listen on a network.
const networkScheme = "tcp://"

// OnNetwork says whether an address is that of a network.
func OnNetwork(address string) bool { return strings.HasPrefix(address, networkScheme) }

// Security is what a coordinator needs to listen on a network: it tells who may
// change a cloud.
type Security struct {
	// CertFile and KeyFile are PEM files: the certificate with its intermediate
	// ones, for the name under which clients know the coordinator, and its key.
	CertFile, KeyFile string
	// TokenFile holds the token that every client has to show; nobody but its
	// owner may be able to read it. Token is the token itself, for one that comes
	// from the environment. One of the two is needed; a token never stands on a
	// command line, where every process of the machine can read it.
	TokenFile, Token string
}

// ExposedError is a network address that cannot be served safely.
type ExposedError struct {
	Address string
	// Missing says what there is not.
	Missing string
}

// Error says what is missing.
func (e *ExposedError) Error() string {
	return fmt.Sprintf("%s: a coordinator does not listen on a network without TLS and a token; it has not been given %s", e.Address, e.Missing)
}

const (
	// maxConnections bounds the open connections over the network, whoever has
	// made them.
	maxConnections = 4096
	// pulse is how long a connection is silent before it is looked after, and
	// patience how long the answer may take.
	pulse    = 30 * time.Second
	patience = 20 * time.Second
	// minPulse is the least time between a client's own looks.
	minPulse = 5 * time.Second
	// idleness is how long a connection without a call is kept.
	idleness = 10 * time.Minute
)

// Guard checks who comes over a network.
type Guard struct {
	tls   *tls.Config
	pair  *pair
	token [sha256.Size]byte
	log   *slog.Logger
	quiet quiet
}

// NewGuard reads what a Security names. The logger, which may be nil, hears of
// clients that were turned away.
func NewGuard(s Security, log *slog.Logger) (*Guard, error) {
	if s.CertFile == "" || s.KeyFile == "" {
		return nil, errors.New("TLS needs a certificate and its key, each in a PEM file")
	}
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	pair, err := loadPair(s.CertFile, s.KeyFile)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Guard{
		pair:  pair,
		token: sha256.Sum256([]byte(token)), log: log,
		tls: &tls.Config{
			MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
			GetCertificate: pair.certificate,
		},
	}, nil
}

// Listen listens on the host and port of a tcp:// address.
func (g *Guard) Listen(ctx context.Context, address string) (net.Listener, error) {
	host, err := HostPort(address)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return &limited{Listener: l, room: make(chan struct{}, maxConnections)}, nil
}

// HostPort is the host and port of a tcp:// address.
func HostPort(address string) (string, error) {
	at, ok := strings.CutPrefix(address, networkScheme)
	if !ok {
		return "", fmt.Errorf("%q is not an address on a network; use tcp://HOST:PORT", address)
	}
	if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
		return "", fmt.Errorf("%q does not name a host and a port; use tcp://HOST:PORT", address)
	}
	return at, nil
}

// options are what a server that listens on a network does beside.
func (g *Guard) options() []grpc.ServerOption {
	if g == nil {
		return nil
	}
	return []grpc.ServerOption{
		grpc.InTapHandle(g.admit),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pulse, Timeout: patience, MaxConnectionIdle: idleness}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPulse, PermitWithoutStream: true}),
	}
}

// admit turns a call away before any of it is read, unless it is local or shows
// the token.
func (g *Guard) admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	if !visitorOf(ctx).network {
		return ctx, nil
	}
	shown := info.Header.Get(authorization)
	if len(shown) == 1 && g.knows(shown[0]) {
		return ctx, nil
	}
	if g.quiet.permits(time.Now()) {
		g.log.Warn("a client was turned away", "from", remote(ctx), "token", len(shown) > 0)
	}
	if len(shown) == 0 {
		return ctx, toStatus(fmt.Errorf("%w: the client shows no token", coordinator.ErrToken))
	}
	return ctx, toStatus(fmt.Errorf("%w: the client's token is another one", coordinator.ErrToken))
}

// authorization is the metadata key of the token, and bearer what comes before
// it.
const (
	authorization = "authorization"
	bearer        = "Bearer "
)

// knows compares digests, so that neither the content nor the length of the
// token shows in the time that it takes.
func (g *Guard) knows(shown string) bool {
	token, ok := strings.CutPrefix(shown, bearer)
	digest := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(digest[:], g.token[:]) == 1 && ok
}

// quiet lets one line a second through, so that nobody fills the log from
// outside.
type quiet struct {
	mu   sync.Mutex
	next time.Time
}

func (q *quiet) permits(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Before(q.next) {
		return false
	}
	q.next = now.Add(time.Second)
	return true
}

// limited takes no more connections than there is room for, and hangs up on the
// others.
type limited struct {
	net.Listener
	room chan struct{}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { <-l.room })}, nil
		default:
			conn.Close()
		}
	}
}

// counted gives its room back when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
