// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// future is a connection to a real provider process that has methods which
// nobody knows, through the proxy.
type future struct {
	t       *testing.T
	pkg     string
	conn    *grpc.ClientConn
	journal string
}

func newFuture(t *testing.T, protocol int) *future {
	t.Helper()
	f := &future{t: t, pkg: fmt.Sprintf("tfplugin%d", protocol), journal: filepath.Join(t.TempDir(), "journal")}
	sockets := shortDir(t)
	host := echoHost(t, 0, func(ctx context.Context) (plugins.Instance, error) {
		return plugins.Launch(ctx, plugins.Command{
			Path: plugintest.Executable(t), Env: append(plugintest.Env(protocol, f.journal), plugintest.Future), SocketDir: sockets,
		})
	})
	f.conn = dialPlain(t, host)
	return f
}

// methods are names of the provider's own service and of one that nobody knows.
func (f *future) methods(suffix string) []string {
	return []string{"/" + f.pkg + ".Provider/Tomorrow" + suffix, "/some.other.Service/Tomorrow" + suffix}
}

func (f *future) stream(ctx context.Context, method string) grpc.ClientStream {
	f.t.Helper()
	ctx = metadata.AppendToOutgoingContext(ctx, "custom", "one", "custom", "two")
	stream, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, forceCodec())
	if err != nil {
		f.t.Fatal(err)
	}
	return stream
}

// payload is a message of fields that nobody knows.
func payload(n uint64) *frame {
	data := protowire.AppendVarint(protowire.AppendTag(nil, 7000, protowire.VarintType), n)
	return &frame{data: protowire.AppendString(protowire.AppendTag(data, 2, protowire.BytesType), "some text")}
}

func (f *future) send(stream grpc.ClientStream, n uint64) {
	f.t.Helper()
	if err := stream.SendMsg(payload(n)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *future) receive(stream grpc.ClientStream, n uint64) {
	f.t.Helper()
	got := &frame{}
	if err := stream.RecvMsg(got); err != nil || !bytes.Equal(got.data, payload(n).data) {
		f.t.Errorf("got %x, %v, want %x", got.data, err, payload(n).data)
	}
}

// ended expects the end of a stream, and its trailer.
func (f *future) ended(stream grpc.ClientStream) error {
	f.t.Helper()
	err := stream.RecvMsg(&frame{})
	trailer := stream.Trailer()
	if !slices.Equal(trailer.Get("echo"), []string{"one,two"}) || !slices.Equal(trailer.Get("trailer-bin"), []string{"\x00\xff"}) {
		f.t.Errorf("trailer %v", trailer)
	}
	return err
}

func (f *future) closed(stream grpc.ClientStream) {
	f.t.Helper()
	if err := stream.CloseSend(); err != nil {
		f.t.Fatal(err)
	}
}

// TestUnknownMethodsOfARealProvider: whatever kind of method it is, messages,
// metadata, and the end pass in both directions through both hops.
func TestUnknownMethodsOfARealProvider(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		f := newFuture(t, protocol)
		for _, method := range f.methods("") {
			f.unary(method)
			f.talk(method)
		}
		for _, method := range f.methods("Quiet") {
			f.upload(method)
		}
		for _, method := range f.methods("Fail") {
			f.failure(method)
		}
		for _, method := range f.methods("Mute") {
			f.headerFirst(method)
		}
	})
}

// unary is a method of one message each way.
func (f *future) unary(method string) {
	f.t.Helper()
	var header, trailer metadata.MD
	got := &frame{}
	ctx := metadata.AppendToOutgoingContext(f.t.Context(), "custom", "x")
	err := f.conn.Invoke(ctx, method, payload(3), got, forceCodec(), grpc.Header(&header), grpc.Trailer(&trailer))
	if err != nil || !bytes.Equal(got.data, payload(3).data) {
		f.t.Errorf("%s: got %x, %v", method, got.data, err)
	}
	if !slices.Equal(header.Get("echo"), []string{"x"}) || !slices.Equal(trailer.Get("echo"), []string{"x"}) {
		f.t.Errorf("%s: header %v, trailer %v", method, header, trailer)
	}
}

// talk is a method of many messages each way, each answered before the next.
func (f *future) talk(method string) {
	f.t.Helper()
	stream := f.stream(f.t.Context(), method)
	for n := range uint64(3) {
		f.send(stream, n)
		f.receive(stream, n)
	}
	f.closed(stream)
	if err := f.ended(stream); !errors.Is(err, io.EOF) {
		f.t.Errorf("%s: ended with %v", method, err)
	}
}

// upload is a method of many messages and one answer.
func (f *future) upload(method string) {
	f.t.Helper()
	stream := f.stream(f.t.Context(), method)
	for n := range uint64(5) {
		f.send(stream, n)
	}
	f.closed(stream)
	f.receive(stream, 4)
	if err := f.ended(stream); !errors.Is(err, io.EOF) {
		f.t.Errorf("%s: ended with %v", method, err)
	}
}

// failure is an answer and then an error with details.
func (f *future) failure(method string) {
	f.t.Helper()
	stream := f.stream(f.t.Context(), method)
	f.send(stream, 1)
	f.closed(stream)
	f.receive(stream, 1)
	failed := status.Convert(f.ended(stream))
	details := failed.Details()
	if failed.Code() != codes.AlreadyExists || failed.Message() != "told so" || len(details) != 1 {
		f.t.Fatalf("%s: ended with %v, details %v", method, failed, details)
	}
	if d, ok := details[0].(*durationpb.Duration); !ok || d.AsDuration() != time.Minute {
		f.t.Errorf("%s: details %v", method, details)
	}
}

// headerFirst is a method that sends nothing but its header for a while.
func (f *future) headerFirst(method string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	stream := f.stream(ctx, method)
	header, err := stream.Header()
	if err != nil || !slices.Equal(header.Get("mute"), []string{"yes"}) {
		f.t.Fatalf("%s: header %v, %v", method, header, err)
	}
	f.closed(stream)
	if err := f.ended(stream); !errors.Is(err, io.EOF) {
		f.t.Errorf("%s: ended with %v", method, err)
	}
}

// TestDeadlinesAndCancellationReachTheProvider for what is not a change.
func TestDeadlinesAndCancellationReachTheProvider(t *testing.T) {
	t.Parallel()
	f := newFuture(t, 6)
	noted := func(what string) int { return countOf(plugintest.Journal(t, f.journal), what) }
	for i, method := range f.methods("Hang") {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		stream := f.stream(ctx, method)
		eventually(t, "the provider hangs", func() bool { return noted("hanging") == i+1 })
		cancel()
		eventually(t, "the provider learns of the end", func() bool { return noted("cancelled with a deadline") == i+1 })
		if err := stream.RecvMsg(&frame{}); status.Code(err) != codes.Canceled {
			t.Errorf("%s: ended with %v", method, err)
		}
	}
}

// countOf is how often something was noted.
func countOf(notes []string, what string) (n int) {
	for _, note := range notes {
		if note == what {
			n++
		}
	}
	return n
}
