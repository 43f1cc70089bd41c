// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
)

func TestReattachValue(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		config := reattachOf(t, r.host, "registry.example.com/plugintest/fixture")
		if config.Protocol != "grpc" || config.ProtocolVersion != protocol || !config.Test || config.Pid != os.Getpid() {
			t.Errorf("entry is %+v", config)
		}
	})
}

func TestMergeReattach(t *testing.T) {
	t.Parallel()
	ours := `{"h/n/a":{"Pid":1},"h/n/b":{"Pid":2}}`
	users := `{"h/n/b":{"Pid":9,"Later":{"x":[1]}},"h/n/c":{"Pid":8}}`
	got, err := MergeReattach(ours, users)
	if err != nil {
		t.Fatal(err)
	}
	var have, want any
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"h/n/a":{"Pid":1},"h/n/b":{"Pid":2},"h/n/c":{"Pid":8}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if got, err := MergeReattach(ours, ""); err != nil || got != ours {
		t.Errorf("without a value of the user: %s, %v", got, err)
	}
	for _, bad := range []string{"{", "[]", `"x"`} {
		if _, err := MergeReattach(ours, bad); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
	if got, err := MergeReattach("null", "null"); err != nil || got != "{}" {
		t.Errorf("null: %s, %v", got, err)
	}
}

// The forms are those that SDKs print: older ones without ProtocolVersion, and
// without a Protocol.
func TestParseReattach(t *testing.T) {
	t.Parallel()
	got, err := ParseReattach(`{
		"six": {"Protocol":"grpc","ProtocolVersion":6,"Pid":7,"Test":true,"Addr":{"Network":"unix","String":"/tmp/p6"}},
		"n/five": {"Protocol":"grpc","ProtocolVersion":5,"Pid":-1,"Test":false,"Addr":{"Network":"tcp","String":"127.0.0.1:1"},"Later":{}},
		"h/n/old": {"Protocol":"grpc","Pid":8,"Test":true,"Addr":{"Network":"unix","String":"/tmp/p5"}},
		"h/n/bare": {"Addr":{"Network":"unix","String":"s"}}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]plugins.Running{
		"six":      {Network: "unix", Address: "/tmp/p6", PID: 7, Protocol: 6},
		"n/five":   {Network: "tcp", Address: "127.0.0.1:1", Protocol: 5},
		"h/n/old":  {Network: "unix", Address: "/tmp/p5", PID: 8, Protocol: 5},
		"h/n/bare": {Network: "unix", Address: "s", Protocol: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := ParseReattach(""); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestParseReattachErrors(t *testing.T) {
	t.Parallel()
	const addr = `"Addr":{"Network":"unix","String":"/s"}`
	for value, says := range map[string]string{
		`{`:                   "not a JSON object",
		`[]`:                  "not a JSON object",
		`{"a":1}`:             "a: json",
		`{"a":{}}`:            `network is ""`,
		`{"a":{"Addr":"/s"}}`: "a: json",
		`{"a":{"ProtocolVersion":4,` + addr + `}}`:                "protocol 4",
		`{"a":{"ProtocolVersion":7,` + addr + `}}`:                "protocol 7",
		`{"a":{"Protocol":"netrpc",` + addr + `}}`:                "netrpc",
		`{"a":{"Addr":{"Network":"udp","String":"127.0.0.1:1"}}}`: "udp",
		`{"a":{"Addr":{"Network":"unix"}}}`:                       "no address",
	} {
		_, err := ParseReattach(value)
		if !errors.Is(err, ErrReattach) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", value, err, says)
		}
	}
}

// idlePool is a pool of which nothing must be started.
func failingPool(err error) *plugins.Pool {
	return plugins.NewPool(func(context.Context) (plugins.Instance, error) { return nil, err }, 0)
}

func TestSocketFolderIsPrivateAndRemoved(t *testing.T) {
	t.Parallel()
	parent := shortDir(t)
	r := newRig(t, 6, &testGate{}, 0, func(o *Options) { o.SocketDir = parent })
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v, %v", entries, err)
	}
	info, err := entries[0].Info()
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	r.close(t.Context())
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// shortDir is a temporary folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSocketPathTooLong(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	e := newEcho(t)
	pool := plugins.NewPool(func(context.Context) (plugins.Instance, error) { return e, nil }, 0)
	_, err := Serve(t.Context(), []Provider{{Source: "a/b/c", Pool: pool}}, Options{Gate: &testGate{}, SocketDir: long})
	if !errors.Is(err, ErrSocketPath) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("got error %v, want ErrSocketPath with a remedy", err)
	}
	if entries, err := os.ReadDir(long); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if pool.Processes() != 0 {
		t.Error("the pool was not closed")
	}
}

func TestServeErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("not executable")
	for name, test := range map[string]struct {
		providers []Provider
		gate      Gate
		want      string
	}{
		"no gate":        {nil, nil, "no gate"},
		"twice":          {[]Provider{{Source: "a/b/c", Pool: failingPool(broken)}, {Source: "a/b/c", Pool: failingPool(broken)}}, &testGate{}, "given twice"},
		"does not start": {[]Provider{{Source: "a/b/c", Pool: failingPool(broken)}}, &testGate{}, "provider a/b/c: not executable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := shortDir(t)
			_, err := Serve(t.Context(), test.providers, Options{Gate: test.gate, SocketDir: parent})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}

func TestServeNothing(t *testing.T) {
	t.Parallel()
	host, err := Serve(t.Context(), nil, Options{Gate: &testGate{}})
	if err != nil {
		t.Fatal(err)
	}
	if value, err := host.Reattach(); err != nil || value != "{}" {
		t.Errorf("got %s, %v", value, err)
	}
	if err := host.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
