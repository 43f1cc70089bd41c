// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package intercept

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// attachedRig is a rig before a provider that somebody else serves, and the id of
// its process.
func attachedRig(t *testing.T, protocol int) (*rig, int) {
	t.Helper()
	r := &rig{
		t: t, protocol: protocol, pkg: "tfplugin" + string(rune('0'+protocol)), gate: &testGate{}, watcher: &testWatcher{},
		journal: filepath.Join(t.TempDir(), "journal"), log: &lockedBuffer{},
	}
	pid, value := plugintest.Debug(t, protocol, r.journal)
	processes, err := ParseReattach(value)
	if err != nil {
		t.Fatal(err)
	}
	running := processes[plugintest.Source]
	if running.PID != pid || running.Protocol != protocol {
		t.Fatalf("%s is read as %+v", value, processes)
	}
	host, err := Serve(t.Context(), []Provider{{
		Source: plugintest.Source, Aliases: []string{"plugintest/fixture"}, Pool: plugins.NewAttachedPool(running), Protocol: running.Protocol,
	}}, Options{Gate: r.gate, Watcher: r.watcher})
	if err != nil {
		t.Fatal(err)
	}
	r.host = host
	t.Cleanup(func() { r.close(context.Background()) })
	return r, running.PID
}

// A provider under a debugger is one process: all connections use it, what it is
// asked is intercepted, and it outlives the host.
func TestAttachedProviderIsIntercepted(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r, pid := attachedRig(t, protocol)
		first, second := r.dial().configure("east"), r.dial()
		first.create(named("a"))
		second.configure("west")
		second.create(named("b"))
		r.dial().configure("east") // the process has another configuration by now
		if calls := r.gate.seen(); len(calls) != 2 || calls[0].ProviderConfig.GetAttr("region").AsString() != "east" {
			t.Errorf("calls %+v", calls)
		}
		for _, what := range []string{"create a", "create b"} {
			if got := r.pid(what); got != pid {
				t.Errorf("%s was done by process %d, want %d", what, got, pid)
			}
		}
		if one, other := reattachOf(t, r.host, plugintest.Source), reattachOf(t, r.host, "plugintest/fixture"); one.Addr.String() != other.Addr.String() {
			t.Errorf("the alias leads to %v, not to %v", other.Addr, one.Addr)
		}
		r.close(context.Background())
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("the provider was ended: %v", err)
		}
		wantEvents(t, r.notes(), "configure east", "create a", "done a", "configure west", "create b", "done b", "configure east")
	})
}

// Objects are read by the same process as long as there is but one configuration.
func TestAttachedProviderReads(t *testing.T) {
	t.Parallel()
	r, _ := attachedRig(t, 6)
	r.dial().configure("east")
	target := Target{Provider: plugintest.Source, Config: cty.NilVal, Type: "fixture_thing", ID: "east/z"}
	if object, err := r.host.Read(t.Context(), target); err != nil || !object.Exists {
		t.Errorf("read %+v, %v", object, err)
	}
	if n := countOf(r.notes(), "configure east"); n != 1 {
		t.Errorf("configured %d times", n)
	}
	r.dial().configure("west")
	if _, err := r.host.Read(t.Context(), target); !errors.Is(err, ErrConfigurations) {
		t.Errorf("error %v, want ErrConfigurations", err)
	}
}

// What became of a change is not known when its provider dies, and neither is
// whether anything of it goes on: the process is not ours.
func TestAttachedProviderDies(t *testing.T) {
	t.Parallel()
	r, pid := attachedRig(t, 6)
	c := r.dial().configure("east")
	hold := filepath.Join(t.TempDir(), "go")
	result := c.applyLater(t.Context(), c.plan(c.nothing(), c.held("a", hold)))
	eventually(t, "the provider is at work", func() bool { return slices.Contains(r.notes(), "create a") })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-result; status.Code(err) != codes.Unavailable {
		t.Errorf("error %v, want Unavailable", err)
	}
	got := r.gate.ended()
	if len(got) != 1 || got[0].Result != Unknown || got[0].SenderDead || len(r.host.Crashes()) != 0 {
		t.Errorf("outcomes %+v, crashes %v", got, r.host.Crashes())
	}
	// Whoever asks next is told why.
	_, err := c.call(t.Context(), "ValidateProviderConfig", c.requestOf("ValidateProviderConfig", "PrepareProviderConfig"))
	if err == nil {
		t.Error("a dead provider answered")
	}
}

// requestOf is a request of a method that has another name in protocol 5.
func (c *cli) requestOf(six, five string) message {
	name := six
	if c.protocol == 5 {
		name = five
	}
	return c.request(name)
}

// A provider that is not there is found missing by the first call, as under the
// CLI itself, and the reason is shown: not as Unavailable, of which the CLI hides
// the text.
func TestAttachedProviderIsNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nobody")
	host, err := Serve(t.Context(), []Provider{{
		Source: "a/b/c", Pool: plugins.NewAttachedPool(plugins.Running{Network: "unix", Address: path, Protocol: 6}), Protocol: 6,
	}}, Options{Gate: &testGate{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(context.Background()) })
	err = dialPlain(t, host).Invoke(t.Context(), "/tfplugin6.Provider/GetProviderSchema", &frame{}, &frame{}, forceCodec())
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
}
