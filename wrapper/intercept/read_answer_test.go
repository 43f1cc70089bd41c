// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

// script is a provider that answers what it is told to, however odd: the
// plugin frameworks would not let it.
type script struct {
	protocol int
	conn     *grpc.ClientConn
	server   *grpc.Server
	// answers are messages in text form by method name.
	answers map[string]string
	// asked are the ReadResource requests in text form.
	asked chan string
}

const scriptSchema = `
provider { block { } }
resource_schemas { key: "x_thing" value { block {
	attributes { name: "id" type: "\"string\"" } attributes { name: "size" type: "\"number\"" computed: true } } } }`

func newScript(t *testing.T, protocol int, answers map[string]string) *script {
	t.Helper()
	s := &script{protocol: protocol, answers: map[string]string{
		"GetSchema": scriptSchema, "GetProviderSchema": scriptSchema,
	}, asked: make(chan string, 1)}
	for method, answer := range answers {
		s.answers[method] = answer
	}
	s.server = grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(s.handle))
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.server.Serve(listener) }()
	s.conn, err = grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *script) handle(_ any, stream grpc.ServerStream) error {
	full, _ := grpc.MethodFromServerStream(stream)
	method := full[strings.LastIndexByte(full, '/')+1:]
	request := &frame{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	pkg := fmt.Sprintf("tfplugin%d", s.protocol)
	if method == "ReadResource" {
		m, err := parse(pkg, "ReadResource.Request", request)
		if err != nil {
			return err
		}
		s.asked <- prototext.MarshalOptions{}.Format(m.Interface())
	}
	name := method
	if method == "GetSchema" {
		name = "GetProviderSchema"
	}
	answer, err := newMessage(pkg, name+".Response")
	if err != nil {
		return err
	}
	if err := prototext.Unmarshal([]byte(s.answers[method]), answer.Interface()); err != nil {
		return err
	}
	data, err := proto.Marshal(answer.Interface())
	if err != nil {
		return err
	}
	return stream.SendMsg(&frame{data: data})
}

func (s *script) Conn() grpc.ClientConnInterface { return s.conn }
func (s *script) Protocol() int                  { return s.protocol }
func (s *script) PID() int                       { return 1 }
func (s *script) Sender() plugins.Sender {
	return plugins.Sender{PID: 1, Started: plugins.UnknownStart}
}
func (s *script) Exited() bool  { return false }
func (s *script) Trace() string { return "" }

func (s *script) Kill() {
	_ = s.conn.Close()
	s.server.Stop()
}

// readScripted reads an object from a provider that gives the answers.
func readScripted(t *testing.T, protocol int, answers map[string]string) (Object, string, error) {
	t.Helper()
	var last *script
	host := echoHost(t, 0, func(context.Context) (plugins.Instance, error) {
		last = newScript(t, protocol, answers)
		return last, nil
	})
	configure := map[int]string{5: "/tfplugin5.Provider/Configure", 6: "/tfplugin6.Provider/ConfigureProvider"}[protocol]
	emptyMap := &frame{data: []byte{0x12, 0x03, 0x0a, 0x01, 0x80}} // config { msgpack: an empty map }
	if err := dialPlain(t, host).Invoke(t.Context(), configure, emptyMap, &frame{}, forceCodec()); err != nil {
		t.Fatal(err)
	}
	object, err := host.Read(t.Context(), Target{Provider: "a/b/c", Type: "x_thing", ID: "a", NotFound: notFound})
	asked := ""
	if len(last.asked) > 0 {
		asked = <-last.asked
	}
	return object, asked, err
}

// States of x_thing in text form: whole, with an unknown size, null.
const (
	whole   = `{ json: "{\"id\":\"a\",\"size\":1}" }`
	unknown = `{ msgpack: "\x82\xa2id\xa1a\xa4size\xd4\x00\x00" }`
	null    = `{ msgpack: "\xc0" }`
)

func TestAnswersToARead(t *testing.T) {
	t.Parallel()
	imported := `imported_resources { type_name: "x_thing" state ` + whole + ` private: "p" }`
	for name, c := range map[string]struct {
		imports, reads string
		exists         bool
		err            error
	}{
		"there":                          {imports: imported, reads: `new_state ` + whole, exists: true},
		"not there":                      {imports: imported, reads: `new_state ` + null},
		"nothing imported":               {},
		"with objects of other types":    {imports: `imported_resources { type_name: "x_rule" state ` + whole + ` }` + imported, reads: `new_state ` + whole, exists: true},
		"a warning":                      {imports: imported + `diagnostics { severity: WARNING summary: "old" }`, reads: `new_state ` + whole, exists: true},
		"several of the type":            {imports: imported + imported, reads: `new_state ` + whole, err: ErrUnclear},
		"another type alone":             {imports: `imported_resources { type_name: "x_rule" state ` + whole + ` }`, reads: `new_state ` + null, err: ErrUnclear},
		"imported as null":               {imports: `imported_resources { type_name: "x_thing" state ` + null + ` }`, reads: `new_state ` + null, err: ErrUnclear},
		"imported without a state":       {imports: `imported_resources { type_name: "x_thing" }`, reads: `new_state ` + null, err: ErrUnclear},
		"imported with an unknown value": {imports: `imported_resources { type_name: "x_thing" state ` + unknown + ` }`, reads: `new_state ` + null, err: ErrUnclear},
		"read with an unknown value":     {imports: imported, reads: `new_state ` + unknown, err: ErrUnclear},
		"read without a state":           {imports: imported, reads: ``, err: ErrUnclear},
		"read with an empty state":       {imports: imported, reads: `new_state { }`, err: ErrUnclear},
		"of another shape":               {imports: imported, reads: `new_state { json: "[1]" }`, err: errNotUnderstood},
		"import put off":                 {imports: `deferred { reason: ABSENT_PREREQ }`, reads: `new_state ` + null, err: ErrUnclear},
		"read put off":                   {imports: imported, reads: `deferred { reason: ABSENT_PREREQ } new_state ` + null, err: ErrUnclear},
		"errors beside a null state":     {imports: imported, reads: `diagnostics { severity: ERROR summary: "Down" } new_state ` + null, err: &ReadError{}},
		"an error of no severity":        {imports: `diagnostics { summary: "Odd" }`, err: &ReadError{}},
		"errors that say it is gone":     {imports: imported, reads: `diagnostics { severity: ERROR summary: "Not found" } new_state ` + whole},
		"import says it is gone, warned": {imports: `diagnostics { severity: WARNING summary: "old" } diagnostics { severity: ERROR summary: "Not found" }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, protocol := range []int{5, 6} {
				object, _, err := readScripted(t, protocol, map[string]string{"ImportResourceState": c.imports, "ReadResource": c.reads})
				checkRead(t, object, err, c.exists, c.err)
			}
		})
	}
}

func checkRead(t *testing.T, object Object, err error, exists bool, want error) {
	t.Helper()
	var failed *ReadError
	if _, ofProvider := want.(*ReadError); ofProvider && !errors.As(err, &failed) || !ofProvider && !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	if object.Exists != exists {
		t.Errorf("exists is %v, want %v", object.Exists, exists)
	}
	if err == nil && object.State.IsNull() == exists {
		t.Errorf("state is %#v", object.State)
	}
}

// What was imported beside the state goes along, as it does under the CLI.
func TestReadPassesOnWhatWasImported(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{5, 6} {
		_, asked, err := readScripted(t, protocol, map[string]string{
			"ImportResourceState": `imported_resources { type_name: "x_thing" state ` + whole + ` private: "hidden" identity { identity_data { json: "{\"arn\":\"it\"}" } } }`,
			"ReadResource":        `new_state ` + whole,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`"x_thing"`, `hidden`, `\"size\":1`, `arn`} {
			if !strings.Contains(asked, part) {
				t.Errorf("protocol %d: %s is not in %s", protocol, part, asked)
			}
		}
	}
}
