// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// echo is a provider of an unknown future protocol: it answers every method
// with the messages it was sent, and keeps what it saw.
type echo struct {
	conn   *grpc.ClientConn
	server *grpc.Server

	mu   sync.Mutex
	seen map[string][][]byte
	meta metadata.MD
}

func newEcho(t testing.TB) *echo {
	t.Helper()
	e := &echo{seen: map[string][][]byte{}}
	e.server = grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(e.handle),
		grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32))
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = e.server.Serve(listener) }()
	e.conn, err = grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *echo) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	md, _ := metadata.FromIncomingContext(stream.Context())
	e.mu.Lock()
	e.meta = md
	e.mu.Unlock()
	_ = stream.SetHeader(metadata.Pairs("echo-header", "h"))
	stream.SetTrailer(metadata.Pairs("echo-trailer", "t"))
	for {
		f := &frame{}
		err := stream.RecvMsg(f)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		e.mu.Lock()
		e.seen[method] = append(e.seen[method], f.data)
		e.mu.Unlock()
		if err := stream.SendMsg(f); err != nil {
			return err
		}
	}
	if method == "/tfplugin6.Provider/FailAfterAnswers" {
		return status.Error(codes.AlreadyExists, "told so")
	}
	return nil
}

func (e *echo) Conn() grpc.ClientConnInterface { return e.conn }
func (e *echo) Protocol() int                  { return 6 }
func (e *echo) PID() int                       { return 1 }
func (e *echo) Sender() plugins.Sender         { return plugins.Sender{} }
func (e *echo) Exited() bool                   { return false }
func (e *echo) Trace() string                  { return "" }

func (e *echo) Kill() {
	_ = e.conn.Close()
	e.server.Stop()
}

// echoRig serves an echo and connects to it as plain gRPC.
func echoRig(t testing.TB) (*echo, *grpc.ClientConn) {
	t.Helper()
	e := newEcho(t)
	host := echoHost(t, 0, func(context.Context) (plugins.Instance, error) { return e, nil })
	return e, dialPlain(t, host)
}

func echoHost(t testing.TB, idle time.Duration, launch plugins.Launcher) *Host {
	t.Helper()
	host, err := Serve(t.Context(), []Provider{{Source: "a/b/c", Pool: plugins.NewPool(launch, idle)}}, Options{Gate: &testGate{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return host
}

// dialPlain connects without the plugin library.
func dialPlain(t testing.TB, host *Host) *grpc.ClientConn {
	t.Helper()
	addr := reattachOf(t, host, "a/b/c").Addr.String()
	conn, err := grpc.NewClient("unix:"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
