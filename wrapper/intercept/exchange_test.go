// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestUnknownUnaryCallPassesUntouched(t *testing.T) {
	t.Parallel()
	e, conn := echoRig(t)
	// A field number that no message has, and bytes that are no message.
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), 42)
	for _, payload := range [][]byte{unknown, {0xff, 0xff, 0xff}, {}} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "custom-key", "v")
		var header, trailer metadata.MD
		answer := &frame{}
		err := conn.Invoke(ctx, "/tfplugin6.Provider/InventedTomorrow", &frame{data: payload}, answer,
			forceCodec(), grpc.Header(&header), grpc.Trailer(&trailer))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(answer.data, payload) {
			t.Errorf("got %x, want %x", answer.data, payload)
		}
		if header.Get("echo-header") == nil || trailer.Get("echo-trailer") == nil || e.meta.Get("custom-key") == nil {
			t.Errorf("metadata are lost: %v, %v, %v", header, trailer, e.meta)
		}
	}
}

func TestUnknownStreamPassesUntouched(t *testing.T) {
	t.Parallel()
	_, conn := echoRig(t)
	for method, want := range map[string]codes.Code{
		"/tfplugin6.Provider/ChatTomorrow":     codes.OK,
		"/tfplugin6.Provider/FailAfterAnswers": codes.AlreadyExists,
		"/other.Service/Chat":                  codes.OK,
	} {
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, forceCodec())
		if err != nil {
			t.Fatal(err)
		}
		// Each message is answered before the next is sent: nothing may wait
		// for the end of the requests.
		for _, payload := range [][]byte{{1}, {2, 3}, {}} {
			if err := stream.SendMsg(&frame{data: payload}); err != nil {
				t.Fatal(err)
			}
			answer := &frame{}
			if err := stream.RecvMsg(answer); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(answer.data, payload) {
				t.Errorf("got %x, want %x", answer.data, payload)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		err = stream.RecvMsg(&frame{})
		if want == codes.OK && !errors.Is(err, io.EOF) || want != codes.OK && status.Code(err) != want {
			t.Errorf("%s ended with %v, want %v", method, err, want)
		}
		if stream.Trailer().Get("echo-trailer") == nil {
			t.Error("trailer is lost")
		}
	}
}

func TestStreamIsCancelledWithTheCLI(t *testing.T) {
	t.Parallel()
	_, conn := echoRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/x.Y/Z", forceCodec())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(&frame{data: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&frame{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := stream.RecvMsg(&frame{}); status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	// Closing the host waits for every handler, so a stream that stayed behind
	// makes the test hang.
}

func TestLargeMessage(t *testing.T) {
	t.Parallel()
	e, conn := echoRig(t)
	payload := bytes.Repeat([]byte("0123456789abcdef"), 40<<20/16)
	answer := &frame{}
	err := conn.Invoke(t.Context(), "/tfplugin6.Provider/InventedTomorrow", &frame{data: payload}, answer, forceCodec())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(answer.data, payload) || !bytes.Equal(e.seen["/tfplugin6.Provider/InventedTomorrow"][0], payload) {
		t.Error("40 MB arrived changed")
	}
}

func TestLargeChange(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial().configure("east")
	blob := cty.StringVal(string(bytes.Repeat([]byte("x"), 20<<20)))
	made := c.create(map[string]cty.Value{"name": cty.StringVal("a"), "blob": blob})
	if !made.value.GetAttr("blob").RawEquals(blob) {
		t.Error("20 MB attribute arrived changed")
	}
}

// lookedAt are requests of the methods that the proxy looks at, for one object.
func (c *cli) lookedAt() map[string]message {
	plan := c.plan(c.nothing(), c.thing(named("a")))
	made, _ := c.apply(plan)
	read := c.request("ReadResource")
	read.setText("type_name", "fixture_thing")
	c.setValue(read, "current_state", made.value, c.thingType())
	read.setBytes("private", made.private)
	validate := c.request("ValidateResourceConfig")
	validate.setText("type_name", "fixture_thing")
	c.setValue(validate, "config", plan.config, c.thingType())
	imported := c.request("ImportResourceState")
	imported.setText("type_name", "fixture_thing")
	imported.setText("id", "east/z")
	return map[string]message{
		"GetProviderSchema":      c.request("GetProviderSchema"),
		"ValidateResourceConfig": validate,
		"ConfigureProvider":      c.configureRequest(named("x")),
		"ReadResource":           read,
		"ImportResourceState":    imported,
		"ApplyResourceChange":    c.applyRequest(plan),
		"StopProvider":           c.request("StopProvider"),
	}
}

// answer is what a connection answers, byte for byte.
func (c *cli) answer(conn grpc.ClientConnInterface, method string, m message) []byte {
	c.t.Helper()
	request, err := m.encode()
	if err != nil {
		c.t.Fatal(err)
	}
	var answer frame
	if err := conn.Invoke(c.t.Context(), "/"+c.pkg+".Provider/"+c.name(method), request, &answer, forceCodec()); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return answer.data
}

// What the proxy looks at is passed on in the provider's own bytes.
func TestAnswersAreByteEqual(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial()
		c.configure("east")
		direct, err := plugins.Launch(t.Context(), plugins.Command{
			Path: plugintest.Executable(t), Env: plugintest.Env(protocol, ""),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(direct.Kill)
		requests := c.lookedAt()
		// Providers are configured first, and stopped last.
		for _, method := range []string{
			"GetProviderSchema", "ValidateResourceConfig", "ConfigureProvider", "ReadResource",
			"ImportResourceState", "ApplyResourceChange", "StopProvider",
		} {
			want, got := c.answer(direct.Conn(), method, requests[method]), c.answer(c.conn, method, requests[method])
			// Protobuf maps have no order, so that the schema differs between any
			// two calls.
			if diff := cmp.Diff(want, got); diff != "" && method != "GetProviderSchema" {
				t.Errorf("%s: %s", method, diff)
			}
			if len(got) != len(want) {
				t.Errorf("%s: %d bytes through the proxy, %d without", method, len(got), len(want))
			}
		}
	})
}

// An ApplyResourceChange request is forwarded as it came, fields of a later
// protocol included.
func TestForwardedChangeIsByteEqual(t *testing.T) {
	t.Parallel()
	e := newEcho(t)
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial()
	request, err := c.applyRequest(c.plan(c.nothing(), c.thing(named("a")))).encode()
	if err != nil {
		t.Fatal(err)
	}
	request.data = protowire.AppendVarint(protowire.AppendTag(request.data, 7777, protowire.VarintType), 1)

	host := echoHost(t, 0, func(context.Context) (plugins.Instance, error) { return e, nil })
	schema, err := r.host.providers[0].schemas.fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	host.providers[0].schemas.learn(schema)
	conn := dialPlain(t, host)
	const method = "/tfplugin6.Provider/ApplyResourceChange"
	if err := conn.Invoke(t.Context(), method, request, &frame{}, forceCodec()); err != nil {
		t.Fatal(err)
	}
	if got := e.seen[method]; len(got) != 1 || !bytes.Equal(got[0], request.data) {
		t.Errorf("the provider got %x, the CLI sent %x", got, request.data)
	}
}

// Which state store is configured is kept in the process, so that connections
// with a state store share none, idle or not.
func TestStateStoreHasItsOwnProcess(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var echoes []*echo
	host := echoHost(t, 10*time.Millisecond, func(context.Context) (plugins.Instance, error) {
		mu.Lock()
		defer mu.Unlock()
		echoes = append(echoes, newEcho(t))
		return echoes[len(echoes)-1], nil
	})
	const method = "/tfplugin6.Provider/ConfigureStateStore"
	for _, name := range []string{"one", "two"} {
		conn := dialPlain(t, host)
		if err := conn.Invoke(t.Context(), method, &frame{data: []byte(name)}, &frame{}, forceCodec()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
		if err := conn.Invoke(t.Context(), "/tfplugin6.Provider/ReadStateBytes", &frame{data: []byte(name)}, &frame{}, forceCodec()); err != nil {
			t.Fatal(err)
		}
	}
	if len(echoes) != 3 || host.Processes() != 3 {
		t.Fatalf("%d processes were started and %d run, want an unconfigured one and one each", len(echoes), host.Processes())
	}
	for i, name := range []string{"one", "two"} {
		for _, seen := range [][][]byte{echoes[i+1].seen[method], echoes[i+1].seen["/tfplugin6.Provider/ReadStateBytes"]} {
			if len(seen) != 1 || string(seen[0]) != name {
				t.Errorf("process %d saw %q, want %q", i+1, seen, name)
			}
		}
	}
}

// BenchmarkForward compares a small call through the proxy with a direct one.
func BenchmarkForward(b *testing.B) {
	e, conn := echoRig(b)
	request := &frame{data: bytes.Repeat([]byte("x"), 1024)}
	for name, to := range map[string]grpc.ClientConnInterface{"direct": e.conn, "proxied": conn} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := to.Invoke(b.Context(), "/x.Y/Z", request, &frame{}, forceCodec()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
