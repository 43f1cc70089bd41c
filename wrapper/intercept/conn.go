// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/stats"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// errStopped is the cause by which an admission ends when the CLI asked the
// provider to stop.
var errStopped = errors.New("interrupted: the CLI asked the provider to stop")

// conn is one connection of the CLI, which stands for one provider instance:
// its configuration is its own.
type conn struct {
	provider *provider
	seat     *plugins.Seat
	// stopped ends when the CLI asked this instance to stop. It stays so: a
	// call that comes later was overtaken by the request to stop.
	stopped context.Context
	stop    context.CancelCauseFunc

	mu     sync.Mutex
	config cty.Value
}

func newConn(p *provider) *conn {
	c := &conn{provider: p, seat: p.pool.Seat(), config: cty.NullVal(cty.DynamicPseudoType)}
	c.stopped, c.stop = context.WithCancelCause(context.Background())
	return c
}

// configuration returns what the connection was configured with.
func (c *conn) configuration() cty.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.config
}

func (c *conn) setConfiguration(config cty.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config = config
}

// close gives up the connection's process and ends what waits on it.
func (c *conn) close() {
	c.seat.Close()
	c.stop(context.Canceled)
}

type connKey struct{}

// connOf returns the connection that a call came in on.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// connTracker makes a conn for every connection of the CLI. Nothing is started
// for a connection as such: the CLI opens and drops a bare one as a probe
// before each that it uses.
type connTracker struct{ provider *provider }

var _ stats.Handler = connTracker{}

// TagConn attaches the conn to everything that happens on the connection.
func (t connTracker) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connKey{}, newConn(t.provider))
}

// HandleConn sees the end of a connection.
func (connTracker) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); ended {
		connOf(ctx).close()
	}
}

// TagRPC has nothing to add.
func (connTracker) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC has nothing to see.
func (connTracker) HandleRPC(context.Context, stats.RPCStats) {}
