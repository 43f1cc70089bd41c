// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Protocol is the version of the API's semantics that this client speaks.
const Protocol = 1

const (
	// maxMessage bounds an answer.
	maxMessage = 32 << 20
	// knock is for how long one attempt to connect may take. An embedded
	// coordinator may have to be started first.
	knock = 20 * time.Second
)

// Dialer opens a connection to the coordinator. It is called again whenever
// the connection was lost, and may find another one then.
type Dialer func(ctx context.Context) (net.Conn, error)

// Client is a connection to a coordinator. Safe for concurrent use.
type Client struct {
	target string
	// patience is for how long calls outside of sessions are repeated.
	patience time.Duration
	conn     *grpc.ClientConn
	api      weaverv1.CoordinatorClient
}

// Dial connects to the coordinator at target, unix:///path/to/socket, and
// makes sure that it speaks this client's protocol. ErrAddress when target is
// no such address, ErrDenied when the socket is somebody else's, ErrProtocol for
// a coordinator of another version, and ErrUnreachable when nobody has answered
// for DefaultPatience: one that is being restarted is waited for. A coordinator on a network asks for more:
// see DialWithCredentials.
func Dial(ctx context.Context, target string) (*Client, error) {
	return DialWithCredentials(ctx, target, Credentials{})
}

// DialWithCredentials is Dial that also reaches coordinators on a network, at
// tcp://HOST:PORT, where HOST has to be a name in the coordinator's certificate.
// ErrNoToken and ErrTokenRefused, ErrCertificate and ErrPlaintext say what is
// wrong with either side. Credentials mean nothing to a socket.
func DialWithCredentials(ctx context.Context, target string, credentials Credentials) (*Client, error) {
	var c *Client
	err := insist(ctx, DefaultPatience, func() (err error) {
		c, err = dialOnce(ctx, target, credentials)
		return err
	})
	return c, err
}

func dialOnce(ctx context.Context, target string, credentials Credentials) (*Client, error) {
	if address, ok := strings.CutPrefix(target, networkScheme); ok {
		return dialNetwork(ctx, target, address, credentials)
	}
	return dialSocket(ctx, target)
}

func dialSocket(ctx context.Context, target string) (*Client, error) {
	path, err := socketPath(target)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	// Once by hand: gRPC would reduce the error to a text.
	conn, err := dial(ctx)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: %s: %w", ErrDenied, target, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w at %s: %w; is `tfweaver serve --listen %s` running?", ErrUnreachable, target, err, target)
	}
	conn.Close()
	return DialWith(ctx, target, DefaultPatience, dial)
}

// maxSocketPath is the length in bytes of a socket's path: what the smallest
// sockaddr_un among the supported systems holds, without the closing zero.
const maxSocketPath = 103

// socketPath is the path in a unix:// address.
func socketPath(target string) (string, error) {
	path, ok := strings.CutPrefix(target, "unix://")
	switch {
	case !ok || !filepath.IsAbs(path):
		return "", fmt.Errorf("%q %w: use a socket with its absolute path, as in unix:///path/to/socket, or tcp://HOST:PORT", target, ErrAddress)
	case len(path) > maxSocketPath:
		return "", fmt.Errorf("%q %w: the path of a socket may have %d bytes and this has %d", target, ErrAddress, maxSocketPath, len(path))
	}
	return path, nil
}

// DialWith is Dial with another way to open connections, which have to be
// private to this user; target is what errors call the coordinator. It tries
// once. The client repeats calls outside of sessions for patience while nobody
// answers, so as to meet the coordinator that dial finds next.
func DialWith(ctx context.Context, target string, patience time.Duration, dial Dialer) (*Client, error) {
	return connect(ctx, target, patience, dial,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("localhost"))
}

// connect makes a client of a way to open connections.
func connect(ctx context.Context, target string, patience time.Duration, dial Dialer, options ...grpc.DialOption) (*Client, error) {
	conn, err := grpc.NewClient("passthrough:///coordinator", append(options,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: knock,
		}),
	)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", target, err)
	}
	c := &Client{target: target, patience: patience, conn: conn, api: weaverv1.NewCoordinatorClient(conn)}
	if err := c.check(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// check makes sure that both sides mean the same by what they say.
func (c *Client) check(ctx context.Context) error {
	info, err := c.api.Info(ctx, &weaverv1.InfoRequest{})
	if err != nil {
		return c.explain(ctx, err)
	}
	if info.GetProtocol() != Protocol {
		return &ProtocolError{Target: c.target, Version: info.GetVersion(), Theirs: info.GetProtocol()}
	}
	return nil
}

// ask puts a call outside of a session, which must be safe to repeat, until it
// is answered or the client's patience is over.
func ask[T any](ctx context.Context, c *Client, put func() (T, error)) (T, error) {
	var out T
	err := insist(ctx, c.patience, func() (err error) {
		out, err = put()
		return c.explain(ctx, err)
	})
	return out, err
}

// Info says who answers.
func (c *Client) Info(ctx context.Context) (*weaverv1.InfoResponse, error) {
	return ask(ctx, c, func() (*weaverv1.InfoResponse, error) { return c.api.Info(ctx, &weaverv1.InfoRequest{}) })
}

// Status lists everything that is going on.
func (c *Client) Status(ctx context.Context) (coordinator.Status, error) {
	var s coordinator.Status
	out, err := ask(ctx, c, func() (*weaverv1.StatusResponse, error) { return c.api.Status(ctx, &weaverv1.StatusRequest{}) })
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out.GetJson(), &s); err != nil {
		return s, fmt.Errorf("read the coordinator's status: %w", err)
	}
	return s, nil
}

// Explain returns the report of a transaction, and its state.
func (c *Client) Explain(ctx context.Context, tx admission.TxID) (conflict.Report, admission.Status, error) {
	out, err := ask(ctx, c, func() (*weaverv1.ExplainResponse, error) {
		return c.api.Explain(ctx, &weaverv1.ExplainRequest{Tx: string(tx)})
	})
	if err != nil {
		return conflict.Report{}, "", err
	}
	report, err := readReport(out.GetReport())
	return report, admission.Status(out.GetStatus()), err
}

// Report lists what was delayed, refused or passed, and which of that ended
// with a provider error.
func (c *Client) Report(ctx context.Context) (coordinator.Report, error) {
	var r coordinator.Report
	out, err := ask(ctx, c, func() (*weaverv1.ReportResponse, error) { return c.api.Report(ctx, &weaverv1.ReportRequest{}) })
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out.GetJson(), &r); err != nil {
		return r, fmt.Errorf("read the coordinator's report: %w", err)
	}
	return r, nil
}

// Resolve settles an uncertain transaction by a named person's word.
func (c *Client) Resolve(ctx context.Context, tx admission.TxID, actor, reason string, exists bool) error {
	_, err := c.api.Resolve(ctx, &weaverv1.ResolveRequest{Tx: string(tx), Actor: actor, Reason: reason, Exists: exists})
	return c.explain(ctx, err)
}

// Watch yields what happens from now on, until ctx ends or an error is
// yielded.
func (c *Client) Watch(ctx context.Context) iter.Seq2[*weaverv1.WatchEvent, error] {
	return func(yield func(*weaverv1.WatchEvent, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.api.Watch(ctx, &weaverv1.WatchRequest{})
		if err != nil {
			yield(nil, c.explain(ctx, err))
			return
		}
		for {
			e, err := stream.Recv()
			if err != nil {
				if err := c.explain(ctx, err); err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close closes the connection. Sessions must be closed before.
func (c *Client) Close() error { return c.conn.Close() }

func readReport(data []byte) (conflict.Report, error) {
	var r conflict.Report
	if len(data) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read a conflict report: %w", err)
	}
	return r, nil
}
