// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// errLeft: the started coordinator ended in an orderly way before it was
// reached, as one with a very short IdleExit may.
var errLeft = errors.New("it ended at once")

// ErrNone: no coordinator of this user is running, and none has ever left a
// journal.
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
// talks to ends. A StartError says why none can be started.
func Connect(ctx context.Context, o Options) (*client.Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := o.prepare(); err != nil {
		return nil, err
	}
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, o.within)
	defer cancel()
	for range attempts {
		// Once by hand: gRPC would reduce the error to a text.
		conn, err := o.findOrStart(ctx)
		if err != nil {
			return nil, err
		}
		conn.Close()
		c, err := client.DialWith(ctx, target, o.findOrStart)
		switch {
		case err == nil:
			return c, nil
		case asked.Err() != nil:
			return nil, asked.Err()
		case ctx.Err() != nil:
			return nil, o.unanswered(err)
		case !errors.Is(err, client.ErrUnreachable):
			return nil, o.misunderstood(err)
		}
	}
	return nil, o.silent("coordinators end as soon as they are reached", errLeft)
}

// Resume is Connect for those who only want to know what is going on: it
// starts a coordinator when there is a journal that one could read, and returns
// ErrNone when nothing was ever coordinated here.
func Resume(ctx context.Context, o Options) (*client.Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	conn, err := o.find(ctx)
	if err == nil {
		conn.Close()
		return Connect(ctx, o)
	}
	_, err = os.Stat(filepath.Join(o.Dir, bboltjournal.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, &StartError{
			Reason: fmt.Sprintf("the state folder %s cannot be read (%s): set %s to a folder of your own", o.Dir, systemReason(err), stateVariable), Err: err,
		}
	}
	return Connect(ctx, o)
}

// find connects to the leader that is published.
func (o Options) find(ctx context.Context) (net.Conn, error) {
	c, ok, err := server.ReadLeader(o.Dir)
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
			return nil, &StartError{Reason: err.Error(), Err: err}
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
			return nil, o.silent("another process has been starting one for too long", err)
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
