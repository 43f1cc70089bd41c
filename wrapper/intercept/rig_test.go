// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

func TestMain(m *testing.M) {
	code := plugintest.Main(m)
	if code == 0 && os.Getenv("PLUGINTEST_PROTOCOL") == "" {
		// The CLI's side of a connection watches the process that it reattached
		// to, which here is the test itself.
		watching := goleak.IgnoreAnyFunction("github.com/hashicorp/go-plugin/internal/cmdrunner.pidWait")
		if err := goleak.Find(watching); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// eventually waits for a condition; the deadline is for a broken test only.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never happened: %s", what)
}

// eachProtocol runs a test for both protocol versions.
func eachProtocol(t *testing.T, test func(t *testing.T, protocol int)) {
	for _, protocol := range []int{5, 6} {
		t.Run(fmt.Sprintf("protocol%d", protocol), func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// testGate admits everything unless told otherwise, and records.
type testGate struct {
	// admit and start decide; nil means yes.
	admit func(ctx context.Context, call Call) error
	start func(ctx context.Context, call Call) error

	mu       sync.Mutex
	calls    []Call
	outcomes []Outcome
	started  int
}

func (g *testGate) Admit(ctx context.Context, call Call) (Permit, error) {
	g.mu.Lock()
	g.calls = append(g.calls, call)
	g.mu.Unlock()
	if g.admit != nil {
		if err := g.admit(ctx, call); err != nil {
			return nil, err
		}
	}
	return &testPermit{gate: g, call: call}, nil
}

func (g *testGate) seen() []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls)
}

func (g *testGate) ended() []Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.outcomes)
}

func (g *testGate) starts() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started
}

type testPermit struct {
	gate *testGate
	call Call
	done bool
}

func (p *testPermit) Start(ctx context.Context) error {
	if p.gate.start != nil {
		if err := p.gate.start(ctx, p.call); err != nil {
			return err
		}
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.gate.started++
	return nil
}

func (p *testPermit) Done(ctx context.Context, outcome Outcome) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.done || ctx.Err() != nil {
		outcome.Err = fmt.Errorf("Done was called twice (%v) or too late: %w", p.done, context.Cause(ctx))
	}
	p.done = true
	p.gate.outcomes = append(p.gate.outcomes, outcome)
}

// testWatcher records what it is told as lines.
type testWatcher struct {
	mu     sync.Mutex
	events []string
}

func (w *testWatcher) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *testWatcher) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// attr renders one attribute of an object for a line.
func attr(v cty.Value, name string) string {
	switch {
	case v.IsNull():
		return "null"
	case !v.GetAttr(name).IsKnown():
		return "unknown"
	case v.GetAttr(name).IsNull():
		return "none"
	default:
		return v.GetAttr(name).AsString()
	}
}

func (w *testWatcher) Configured(_ context.Context, _ string, config cty.Value) {
	w.note("configured %s", attr(config, "region"))
}

func (w *testWatcher) Read(_ context.Context, _, resourceType string, before, after, config cty.Value) {
	w.note("read %s %s -> %s in %s", resourceType, attr(before, "id"), attr(after, "id"), attr(config, "region"))
}

func (w *testWatcher) Imported(_ context.Context, _, resourceType, id string, state, _ cty.Value) {
	w.note("imported %s %s %s", resourceType, id, attr(state, "id"))
}

func (w *testWatcher) Planned(_ context.Context, _, resourceType string) {
	w.note("planned %s", resourceType)
}

func (w *testWatcher) Stopping(context.Context, string) { w.note("stopping") }

// rig is a host before the fixture provider.
type rig struct {
	t        *testing.T
	protocol int
	pkg      string
	host     *Host
	gate     *testGate
	watcher  *testWatcher
	journal  string
	log      *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// newRig serves the fixture provider with the given gate and options.
func newRig(t *testing.T, protocol int, gate *testGate, idle time.Duration, adjust func(*Options)) *rig {
	t.Helper()
	r := &rig{
		t: t, protocol: protocol, pkg: fmt.Sprintf("tfplugin%d", protocol), gate: gate,
		watcher: &testWatcher{}, journal: filepath.Join(t.TempDir(), "journal"), log: &lockedBuffer{},
	}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	sockets := shortDir(t) // providers that are killed leave theirs
	pool := plugins.NewPool(func(ctx context.Context) (plugins.Instance, error) {
		return plugins.Launch(ctx, plugins.Command{
			Path: plugintest.Executable(t), Env: plugintest.Env(protocol, r.journal), Logger: plugins.NewLogger(r.log, "trace"), SocketDir: sockets,
		})
	}, idle)
	options := Options{Gate: gate, Watcher: r.watcher, Logger: logger, SocketDir: sockets}
	if adjust != nil {
		adjust(&options)
	}
	host, err := Serve(t.Context(), []Provider{{Source: plugintest.Source, Pool: pool}}, options)
	if err != nil {
		t.Fatal(err)
	}
	r.host = host
	t.Cleanup(func() { r.close(context.Background()) })
	return r
}

func (r *rig) close(ctx context.Context) {
	r.t.Helper()
	if err := r.host.Close(ctx); err != nil {
		r.t.Error(err)
	}
}

// notes returns what the provider did, without its configuration.
func (r *rig) notes() []string { return plugintest.Journal(r.t, r.journal) }

// pid returns the process that noted something, 0 when none did.
func (r *rig) pid(what string) int { return plugintest.PID(r.t, r.journal, what) }

// cli is a connection as the CLI makes it.
type cli struct {
	*rig
	conn   *grpc.ClientConn
	client plugin.ClientProtocol
}

// dial connects by the reattach value, with the library that the CLI uses.
func (r *rig) dial() *cli {
	r.t.Helper()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: "k", MagicCookieValue: "v"},
		VersionedPlugins: map[int]plugin.PluginSet{5: {}, 6: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		Reattach:         reattachOf(r.t, r.host, plugintest.Source),
	})
	protocol, err := client.Client()
	if err != nil {
		r.t.Fatal(err)
	}
	if got := client.NegotiatedVersion(); got != r.protocol {
		r.t.Fatalf("the CLI would speak protocol %d, want %d", got, r.protocol)
	}
	c := &cli{rig: r, conn: protocol.(*plugin.GRPCClient).Conn, client: protocol}
	r.t.Cleanup(c.hangUp)
	return c
}

func (c *cli) hangUp() { _ = c.conn.Close() }

// reattachOf reads the reattach value as the CLI does.
func reattachOf(t testing.TB, host *Host, source string) *plugin.ReattachConfig {
	t.Helper()
	value, err := host.Reattach()
	if err != nil {
		t.Fatal(err)
	}
	var entries map[string]struct {
		Protocol        string
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(value), &entries); err != nil {
		t.Fatal(err)
	}
	entry, ok := entries[source]
	if !ok {
		t.Fatalf("no entry for %s in %s", source, value)
	}
	addr, err := net.ResolveUnixAddr(entry.Addr.Network, entry.Addr.String)
	if err != nil {
		t.Fatal(err)
	}
	return &plugin.ReattachConfig{
		Protocol: plugin.Protocol(entry.Protocol), ProtocolVersion: entry.ProtocolVersion,
		Pid: entry.Pid, Test: entry.Test, Addr: addr,
	}
}

// touch makes the file that changes may be waiting for.
func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
