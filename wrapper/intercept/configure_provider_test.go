// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func TestAliasesShareProcessesByConfiguration(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				region := []string{"east", "west"}[i%2]
				c := r.dial().configure(region)
				made := c.create(named(fmt.Sprintf("n%d", i)))
				if got := made.value.GetAttr("id").AsString(); !strings.HasPrefix(got, region+"/") {
					t.Errorf("object of %s was made as %s", region, got)
				}
			}()
		}
		wg.Wait()
		if got := r.host.Processes(); got != 3 {
			t.Errorf("%d processes run, want 1 + 2 configurations", got)
		}
		configured := 0
		for _, note := range r.notes() {
			if strings.HasPrefix(note, "configure ") {
				configured++
			}
		}
		if configured != 2 {
			t.Errorf("providers were configured %d times", configured)
		}
		told := slices.DeleteFunc(r.watcher.seen(), func(e string) bool { return !strings.HasPrefix(e, "configured ") })
		slices.Sort(told)
		wantEvents(t, told, "configured east", "configured west")
	})
}

// The plan walk and the apply walk differ in client capabilities, which only
// matter to a configuration that is not known yet.
func TestConfigurationKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial()
	variant := func(version string, region cty.Value, capability string) message {
		m := c.configureRequest(map[string]cty.Value{"region": region})
		m.setText("terraform_version", version)
		if capability != "" {
			caps := message{m.Mutable(m.field("client_capabilities")).Message()}
			caps.Set(caps.field(capability), protoreflect.ValueOfBool(true))
		}
		return m
	}
	east, unknown := cty.StringVal("east"), cty.UnknownVal(cty.String)
	for name, test := range map[string]struct {
		a, b message
		same bool
	}{
		"write-only":              {variant("1.11.4", east, ""), variant("1.11.4", east, "write_only_attributes_allowed"), true},
		"deferral":                {variant("1.11.4", east, ""), variant("1.11.4", east, "deferral_allowed"), true},
		"deferral of the unknown": {variant("1.11.4", unknown, ""), variant("1.11.4", unknown, "deferral_allowed"), false},
		"unknown":                 {variant("1.11.4", unknown, ""), variant("1.11.4", unknown, ""), true},
		"region":                  {variant("1.11.4", east, ""), variant("1.11.4", cty.StringVal("west"), ""), false},
		"version":                 {variant("1.11.4", east, ""), variant("1.12.0", east, ""), false},
	} {
		if got := keyOf(t, r, test.a) == keyOf(t, r, test.b); got != test.same {
			t.Errorf("%s: same key is %v, want %v", name, got, test.same)
		}
	}
}

func keyOf(t *testing.T, r *rig, m message) [32]byte {
	t.Helper()
	f, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := r.host.providers[0].decodeConfiguration(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestRejectedConfiguration(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial()
		response := c.mustCall("ConfigureProvider", c.configureRequest(map[string]cty.Value{"reject": cty.True}))
		if d := response.diagnostics(); len(d) != 1 || !d[0].Error || d[0].Summary != "Rejected" {
			t.Errorf("diagnostics are %v", d)
		}
		if got := r.watcher.seen(); len(got) != 0 {
			t.Errorf("the watcher was told %q", got)
		}
		c.configure("east").create(named("a"))
	})
}

func TestCrashInConfigure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial()
	_, err := c.call(t.Context(), "ConfigureProvider", c.configureRequest(map[string]cty.Value{"crash": cty.True}))
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the CLI got %v, want Unavailable", err)
	}
	if got := r.host.Crashes(); len(got) != 1 || !strings.Contains(got[0].Trace, "plugintest crash in configure") {
		t.Errorf("crashes are %+v", got)
	}
}

func TestIdleProcessIsReplaced(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 20*time.Millisecond, nil)
		c := r.dial().configure("east")
		eventually(t, "the idle process is gone", func() bool { return r.host.Processes() == 1 })
		made := c.create(named("a"))
		if got := made.value.GetAttr("id").AsString(); got != "east/a" {
			t.Errorf("object was made as %s", got)
		}
		wantEvents(t, r.notes(), "configure east", "configure east", "create a", "done a")
		if len(r.host.Crashes()) != 0 {
			t.Error("a retired process counts as crashed")
		}
	})
}

func TestEphemeralResourceKeepsItsProcess(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 20*time.Millisecond, nil)
		c := r.dial().configure("east")
		other := r.dial().configure("west")
		ty := cty.Object(map[string]cty.Type{"region": cty.String})
		open := c.request("OpenEphemeralResource")
		open.setText("type_name", "fixture_lease")
		c.setValue(open, "config", cty.ObjectVal(map[string]cty.Value{"region": cty.NullVal(cty.String)}), ty)
		opened := c.mustCall("OpenEphemeralResource", open)
		if result, err := opened.value("result", ty); err != nil || result.GetAttr("region").AsString() != "east" {
			t.Fatalf("opened %#v, %v, %v", result, err, opened.diagnostics())
		}
		eventually(t, "the idle process is gone", func() bool { return r.host.Processes() == 2 })
		time.Sleep(60 * time.Millisecond)
		if got := r.host.Processes(); got != 2 {
			t.Errorf("%d processes run; the one with the open resource must live", got)
		}
		closing := c.request("CloseEphemeralResource")
		closing.setText("type_name", "fixture_lease")
		c.mustCall("CloseEphemeralResource", closing)
		eventually(t, "the process is gone", func() bool { return r.host.Processes() == 1 })
		wantEvents(t, slices.DeleteFunc(r.notes(), func(n string) bool { return strings.HasPrefix(n, "configure") }), "open east", "close east")
		other.create(named("a"))
	})
}

func TestReadAndImportAreWatched(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		ty := c.thingType()
		for _, size := range []int64{1, 404} {
			read := c.request("ReadResource")
			read.setText("type_name", "fixture_thing")
			c.setValue(read, "current_state", c.thing(map[string]cty.Value{
				"id": cty.StringVal("east/a"), "name": cty.StringVal("a"), "size": cty.NumberIntVal(size),
			}), ty)
			c.mustCall("ReadResource", read)
		}
		imported := c.request("ImportResourceState")
		imported.setText("type_name", "fixture_thing")
		imported.setText("id", "east/z")
		c.mustCall("ImportResourceState", imported)
		wantEvents(t, r.watcher.seen(), "configured east",
			"read fixture_thing east/a -> east/a in east", "read fixture_thing east/a -> null in east",
			"imported fixture_thing east/z east/z")
	})
}

func TestWithoutWatcher(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, func(o *Options) { o.Watcher, o.Logger = nil, nil })
	c := r.dial().configure("east")
	c.create(named("a"))
	c.mustCall("StopProvider", c.request("StopProvider"))
}

func TestOwnServicesOfThePluginLibrary(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial().configure("east")
	if err := c.client.Ping(); err != nil {
		t.Errorf("health: %v", err)
	}
	// Close asks for a shutdown, which must not end the shared process.
	other := r.dial().configure("east")
	_ = c.client.(*plugin.GRPCClient).Close()
	other.create(named("a"))
	if got := r.host.Processes(); got != 2 {
		t.Errorf("%d processes run", got)
	}
}

func TestProbeConnectionStartsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	for range 5 {
		c := r.dial()
		if err := c.client.Ping(); err != nil {
			t.Fatal(err)
		}
		c.hangUp()
	}
	if got := r.host.Processes(); got != 1 {
		t.Errorf("%d processes run", got)
	}
}

func TestProcessGoesWithItsLastConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	one, two := r.dial().configure("east"), r.dial().configure("east")
	one.hangUp()
	two.create(named("a"))
	two.hangUp()
	eventually(t, "the process is gone", func() bool { return r.host.Processes() == 1 })
}
