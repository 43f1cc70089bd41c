// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugintest

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// futureEnv makes the provider one of a later protocol, which has methods that
// nobody knows yet.
const futureEnv = "PLUGINTEST_FUTURE"

// Future is an entry for the environment of a provider that also answers every
// method that it does not know: by the same messages one by one, with the
// metadata that it got as its header and its trailer. The end of the method's
// name makes it special:
//
//   - Fail ends with the status AlreadyExists, with details.
//   - Mute says nothing but its header, until the caller has sent all.
//   - Hang waits for the call to end, notes "cancelled", and whether the call had
//     a deadline.
//   - Quiet takes all messages and answers once, with the last.
const Future = futureEnv + "=1"

// serveFuture serves the provider with the methods of Future.
func serveFuture(protocol int) {
	factory := providerserver.NewProtocol6(&fixture{})
	provider := plugin.Plugin(&tf6server.GRPCProviderPlugin{GRPCProvider: factory, Name: Source})
	if protocol == 5 {
		provider = &tf5server.GRPCProviderPlugin{GRPCProvider: providerserver.NewProtocol5(&fixture{}), Name: Source}
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion: uint(protocol), MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE",
			MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		Plugins: plugin.PluginSet{"provider": provider},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.UnknownServiceHandler(answerFuture),
				grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32))...)
		},
	})
}

// answerFuture answers a method of Future. An empty message keeps whatever it is
// given as unknown fields.
func answerFuture(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	given, _ := metadata.FromIncomingContext(stream.Context())
	echoed := metadata.Pairs("echo", strings.Join(given.Get("custom"), ","))
	if err := stream.SetHeader(echoed); err != nil {
		return err
	}
	stream.SetTrailer(metadata.Join(echoed, metadata.Pairs("trailer-bin", "\x00\xff")))
	switch {
	case strings.HasSuffix(method, "Hang"):
		return hang(stream.Context())
	case strings.HasSuffix(method, "Mute"):
		return mute(stream)
	}
	last, err := echoAll(stream, !strings.HasSuffix(method, "Quiet"))
	switch {
	case err != nil:
		return err
	case strings.HasSuffix(method, "Quiet"):
		return stream.SendMsg(last)
	case strings.HasSuffix(method, "Fail"):
		failed, err := status.New(codes.AlreadyExists, "told so").WithDetails(durationpb.New(time.Minute))
		if err != nil {
			return err
		}
		return failed.Err()
	default:
		return nil
	}
}

// echoAll takes all messages, and answers each if told to. It returns the last.
func echoAll(stream grpc.ServerStream, answer bool) (*emptypb.Empty, error) {
	last := &emptypb.Empty{}
	for {
		m := &emptypb.Empty{}
		err := stream.RecvMsg(m)
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		last = m
		if !answer {
			continue
		}
		if err := stream.SendMsg(m); err != nil {
			return nil, err
		}
	}
}

func mute(stream grpc.ServerStream) error {
	if err := stream.SendHeader(metadata.Pairs("mute", "yes")); err != nil {
		return err
	}
	_, err := echoAll(stream, false)
	return err
}

func hang(ctx context.Context) error {
	deadline, bounded := ctx.Deadline()
	note("hanging")
	<-ctx.Done()
	if bounded && time.Until(deadline) < time.Hour {
		note("cancelled with a deadline")
	} else {
		note("cancelled")
	}
	return status.FromContextError(ctx.Err()).Err()
}
