// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// exchange is one call of the CLI while it is being served.
type exchange struct {
	conn   *conn
	method string
	stream grpc.ServerStream
}

// rpc serves a call of which the proxy understands the messages. It returns
// the answer for the CLI.
type rpc func(x *exchange, ctx context.Context, request *frame) (*frame, error)

// rpcOf returns how a method of the provider service is served, nil when it is
// passed through unread. Both protocol versions are listed: a version only
// calls its own names.
func rpcOf(name string) rpc {
	switch name {
	case "GetSchema", "GetProviderSchema":
		return (*exchange).getProviderSchema
	case "Configure", "ConfigureProvider":
		return (*exchange).configureProvider
	case "Stop", "StopProvider":
		return (*exchange).stopProvider
	case "ReadResource":
		return (*exchange).readResource
	case "PlanResourceChange":
		return (*exchange).planResourceChange
	case "ApplyResourceChange":
		return (*exchange).applyResourceChange
	case "ImportResourceState":
		return (*exchange).importResourceState
	case "OpenEphemeralResource":
		return (*exchange).openEphemeralResource
	case "CloseEphemeralResource":
		return (*exchange).closeEphemeralResource
	case "ConfigureStateStore":
		return (*exchange).configureStateStore
	default:
		return nil
	}
}

// handle serves every call of the CLI: go-plugin's own services are answered
// here, the methods of rpcOf are looked at, and all others pass through.
func (p *provider) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	x := &exchange{conn: connOf(stream.Context()), method: method, stream: stream}
	if local := localOf(method); local != nil {
		return local(x)
	}
	if name, ok := strings.CutPrefix(method, "/"+p.pkg+".Provider/"); ok {
		if serve := rpcOf(name); serve != nil {
			return x.unary(serve)
		}
	}
	return x.passThrough()
}

func (x *exchange) unary(serve rpc) error {
	request := &frame{}
	if err := x.stream.RecvMsg(request); err != nil {
		return err
	}
	answer, err := serve(x, x.stream.Context(), request)
	if err != nil {
		return err
	}
	return x.stream.SendMsg(answer)
}

// forward sends a request to the process of the connection and returns its
// answer.
func (x *exchange) forward(ctx context.Context, request *frame) (*frame, error) {
	lease, err := x.lease(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	answer, err := x.invoke(ctx, lease, request)
	if err != nil {
		x.fault(lease, err)
	}
	return answer, err
}

// lease returns the process of the connection. Errors are gRPC statuses, of
// the kind that the CLI gets from a provider that is gone.
func (x *exchange) lease(ctx context.Context) (*plugins.Lease, error) {
	lease, err := x.conn.seat.Lease(ctx)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return lease, nil
}

// unavailable translates a failure to reach a process. The CLI shows nothing of
// the text of Unavailable but that the provider does not respond, which is so
// when it has crashed; why one cannot be started is to be seen.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	if errors.Is(err, plugins.ErrCrashed) || errors.Is(err, plugins.ErrClosed) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return status.Error(codes.FailedPrecondition, err.Error())
}

// invoke makes one unary call with the metadata of the CLI's call, and hands
// the provider's metadata back.
func (x *exchange) invoke(ctx context.Context, lease *plugins.Lease, request *frame) (*frame, error) {
	var header, trailer metadata.MD
	answer := &frame{}
	err := lease.Conn().Invoke(outgoing(ctx), x.method, request, answer,
		forceCodec(), grpc.Header(&header), grpc.Trailer(&trailer))
	// Metadata is lost with a CLI that hung up; there is nobody to tell.
	_ = x.stream.SetHeader(portable(header))
	x.stream.SetTrailer(portable(trailer))
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// fault looks for the crash behind a failed call and reports it, nil when the
// process lives.
func (x *exchange) fault(lease *plugins.Lease, err error) *plugins.CrashError {
	return x.conn.provider.fault(lease, x.method, err)
}

func (p *provider) fault(lease *plugins.Lease, method string, err error) *plugins.CrashError {
	if status.Code(err) != codes.Unavailable {
		return nil
	}
	crash := lease.Fault()
	if crash != nil {
		p.host.log.Error("provider process crashed", "provider", p.source, "pid", crash.PID, "method", method)
	}
	return crash
}

// outgoing carries the metadata of an incoming call over to an outgoing one.
func outgoing(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(ctx, portable(md))
}

// portable drops what belongs to one hop only.
func portable(md metadata.MD) metadata.MD {
	kept := metadata.MD{}
	for key, values := range md {
		switch {
		case strings.HasPrefix(key, ":"), strings.HasPrefix(key, "grpc-"):
		case key == "content-type", key == "user-agent", key == "te":
		default:
			kept[key] = values
		}
	}
	return kept
}

// passThrough joins the CLI's stream with one to the provider, message by
// message in both directions. Unary calls are streams of one message, so that
// every kind of method goes this way, known or not.
func (x *exchange) passThrough() error {
	ctx, cancel := context.WithCancel(x.stream.Context())
	defer cancel()
	lease, err := x.lease(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	backend, err := lease.Conn().NewStream(outgoing(ctx), desc, x.method, forceCodec())
	if err != nil {
		x.fault(lease, err)
		return err
	}
	// The reader of requests ends with the CLI's stream, which ends when this
	// function returns, so it is not waited for.
	go x.pumpRequests(backend, cancel)
	err = x.pumpAnswers(backend)
	x.stream.SetTrailer(portable(backend.Trailer()))
	if err != nil {
		x.fault(lease, err)
	}
	return err
}

// pumpRequests copies the CLI's messages until it has no more.
func (x *exchange) pumpRequests(backend grpc.ClientStream, abort context.CancelFunc) {
	for {
		request := &frame{}
		err := x.stream.RecvMsg(request)
		if errors.Is(err, io.EOF) {
			_ = backend.CloseSend()
			return
		}
		if err != nil {
			abort()
			return
		}
		if err := backend.SendMsg(request); err != nil {
			// The status of a broken stream is seen by the reader of answers.
			return
		}
	}
}

// pumpAnswers copies the provider's messages until its stream ends, and
// returns the status that it ended with.
func (x *exchange) pumpAnswers(backend grpc.ClientStream) error {
	// Metadata may be all that comes for a while, and the CLI may wait for it.
	if header, err := backend.Header(); err == nil {
		if kept := portable(header); len(kept) > 0 {
			_ = x.stream.SendHeader(kept) // what is wrong with the stream shows below
		}
	}
	for {
		answer := &frame{}
		err := backend.RecvMsg(answer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := x.stream.SendMsg(answer); err != nil {
			return err
		}
	}
}
