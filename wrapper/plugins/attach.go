// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// ErrUnreachable: nobody serves a provider at the address that was given for it.
var ErrUnreachable = errors.New("nobody serves the provider")

// attachTimeout bounds how long a running provider may take to accept a
// connection on this machine.
const attachTimeout = 10 * time.Second

// Running is a provider process that somebody else has started and serves,
// usually under a debugger: an entry of TF_REATTACH_PROVIDERS.
type Running struct {
	// Network and Address are those of its socket: "unix" and a path, or "tcp"
	// and HOST:PORT.
	Network, Address string
	// PID is its process id, as far as told; 0 when not.
	PID int
	// Protocol is the plugin protocol that it says it speaks, 5 or 6.
	Protocol int
}

// attached is the connection to such a process. It implements [Instance].
type attached struct {
	conn    *grpc.ClientConn
	running Running
}

// Attach connects to a provider that runs already. The error wraps
// ErrUnreachable when nobody answers. Whatever becomes of the connection, the
// process is not ours: it is never ended, and its death is never concluded.
func Attach(ctx context.Context, running Running) (Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	var dialer net.Dialer
	probe, err := dialer.DialContext(ctx, running.Network, running.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	_ = probe.Close() // only that somebody listens was to be known
	conn, err := grpc.NewClient("passthrough:///provider",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, running.Network, running.Address)
		}),
		// No certificate can be exchanged by an environment variable.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return &attached{conn: conn, running: running}, nil
}

// Conn is the connection.
func (a *attached) Conn() grpc.ClientConnInterface { return a.conn }

// Protocol is what the process was said to speak.
func (a *attached) Protocol() int { return a.running.Protocol }

// PID is the process id that was told.
func (a *attached) PID() int { return a.running.PID }

// Sender says that the death of the process cannot be known: whoever serves it
// may have started others, and its id may be one of another name space.
func (a *attached) Sender() Sender { return Sender{PID: a.running.PID, Started: UnknownStart} }

// Exited is never known.
func (a *attached) Exited() bool { return false }

// Trace is empty: its output is its owner's.
func (a *attached) Trace() string { return "" }

// Kill closes the connection and leaves the process alone.
func (a *attached) Kill() { _ = a.conn.Close() }
