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

// errLeft: a coordinator ended before it was reached, as one with a very short
// IdleExit may.
var errLeft = errors.New("it ended at once")

// ErrNone: no coordinator of this user is running, and none has ever left a
// journal.
var ErrNone = errors.New("no coordinator is running")

const (
	// poll is how often a process that waits for a coordinator looks again, and
	// the first pause after one that ended; the pauses double up to maxPause.
	poll     = 20 * time.Millisecond
	maxPause = 500 * time.Millisecond
	// target is what errors call the coordinator.
	target = "this machine"
	// attempts bounds how often one is started anew that ends before it can be
	// reached and without saying why, as one does that is killed.
	attempts = 10
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
	for wait := poll; ; wait = min(2*wait, maxPause) {
		// Once by hand: gRPC would reduce the error to a text.
		conn, err := o.findOrStart(ctx)
		if err != nil {
			return nil, err
		}
		conn.Close()
		c, err := client.DialWith(ctx, target, o.within, o.findOrStart)
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
		if pause(ctx, wait) != nil {
			return nil, o.silent("coordinators end as soon as they are reached", errors.Join(errLeft, err))
		}
	}
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
// that look for it starts one, and the others wait for that. One that ends
// without a word, as if killed, is followed by another.
func (o Options) findOrStart(ctx context.Context) (net.Conn, error) {
	for tries, wait := 1, poll; ; {
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
			if !errors.Is(err, errLeft) || tries == attempts || pause(ctx, wait) != nil {
				return conn, err
			}
			tries, wait = tries+1, min(2*wait, maxPause)
			continue
		}
		if err := pause(ctx, poll); err != nil {
			return nil, o.silent("another process has been starting one for too long", err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
