// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// errLeft: the started coordinator ended in an orderly way before it was
// reached, as one with a very short IdleExit may.
var errLeft = errors.New("it ended at once")

// ErrNone: no coordinator of this user is running.
var ErrNone = errors.New("no coordinator is running")

const (
	// poll is how often a process that waits for a coordinator looks again.
	poll = 20 * time.Millisecond
	// target is what errors call the coordinator.
	target = "this machine"
	// attempts bounds how often a coordinator that ends just as it is reached
	// is looked for again.
	attempts = 5
)

// Connect reaches the coordinator of this user, and starts one when there is
// none. The client finds or starts the next one by itself when the one it
// talks to ends.
func Connect(ctx context.Context, o Options) (*client.Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := o.prepare(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for range attempts {
		// Once by hand: gRPC would reduce the error to a text.
		conn, err := o.findOrStart(ctx)
		if err != nil {
			return nil, err
		}
		conn.Close()
		c, err := client.DialWith(ctx, target, o.findOrStart)
		if err == nil || !errors.Is(err, client.ErrUnreachable) {
			return c, err
		}
	}
	return nil, fmt.Errorf("%w: coordinators end as soon as they are reached; see %s", client.ErrUnreachable, o.path(logName))
}

// Find reaches the coordinator of this user, but starts none: ErrNone when
// nobody answers.
func Find(ctx context.Context, o Options) (*client.Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c, err := client.DialWith(ctx, target, o.find)
	if errors.Is(err, client.ErrUnreachable) {
		conn, findErr := o.find(ctx)
		if findErr != nil {
			return nil, ErrNone
		}
		conn.Close()
	}
	return c, err
}

// find connects to the leader that is published.
func (o Options) find(ctx context.Context) (net.Conn, error) {
	c, ok, err := o.current()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNone
	}
	path, err := server.SocketPath(c.Address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// findOrStart connects to the leader. When there is none, one process of all
// that look for it starts one, and the others wait for that.
func (o Options) findOrStart(ctx context.Context) (net.Conn, error) {
	for tries := 1; ; {
		if conn, err := o.find(ctx); err == nil {
			return conn, nil
		}
		unlock, ok, err := tryLock(o.path(lockName))
		if err != nil {
			return nil, fmt.Errorf("start a coordinator: %w", err)
		}
		if ok {
			conn, err := o.start(ctx)
			unlock()
			if errors.Is(err, errLeft) && tries < attempts {
				tries++
				continue
			}
			return conn, err
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("%w: another process has been starting one for too long; see %s: %w", client.ErrUnreachable, o.path(logName), err)
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(poll):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
