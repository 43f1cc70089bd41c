// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/plugins"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// notFound knows the fixture's own words for an object that is not there.
func notFound(d Diagnostic) bool { return d.Summary == "Not found" }

func (r *rig) read(ctx context.Context, id string) (Object, error) {
	return r.host.Read(ctx, Target{Provider: plugintest.Source, Type: "fixture_thing", ID: id, NotFound: notFound})
}

func TestReadOfAnObject(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		got, err := r.read(t.Context(), "east/a")
		if err != nil || !got.Exists || attr(got.State, "id") != "east/a" || attr(got.State, "name") != "none" {
			t.Errorf("read %+v, %v", got, err)
		}
		if !got.State.Type().Equals(c.thingType()) {
			t.Errorf("the state is of type %#v", got.State.Type())
		}
		wantEvents(t, r.notes(), "configure east", "configure east", "import east/a in east", "read ")
		wantEvents(t, r.watcher.seen(), "configured east")
	})
}

func TestReadOfAnObjectThatIsNotThere(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		for _, id := range []string{"east/gone", "east/missing"} {
			got, err := r.read(t.Context(), id)
			if err != nil || got.Exists || !got.State.IsNull() || !got.State.Type().Equals(c.thingType()) {
				t.Errorf("%s: read %+v, %v", id, got, err)
			}
		}
	})
}

// Whatever is not known to mean that the object is not there is an error.
func TestReadThatFails(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		r.dial().configure("east")
		for id, call := range map[string]string{"east/denied": "ImportResourceState", "east/unreadable": "ReadResource"} {
			got, err := r.read(t.Context(), id)
			var failed *ReadError
			if !errors.As(err, &failed) || failed.Call != call || got.Exists || len(failed.Diagnostics) == 0 {
				t.Errorf("%s: read %+v, %v", id, got, err)
			}
		}
		_, err := r.host.Read(t.Context(), Target{Provider: plugintest.Source, Type: "fixture_thing", ID: "east/missing"})
		var failed *ReadError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "There is no east/missing") {
			t.Errorf("without anybody who knows the provider's words: %v", err)
		}
		if _, err := r.host.Read(t.Context(), Target{Provider: plugintest.Source, Type: "fixture_none", ID: "x"}); !errors.Is(err, errNotUnderstood) {
			t.Errorf("a type that there is not: %v", err)
		}
		if _, err := r.host.Read(t.Context(), Target{Provider: "a/b/c", Type: "fixture_thing", ID: "x"}); err == nil {
			t.Error("a provider was asked that there is not")
		}
	})
}

// An importer that crashes takes no change with it, and can be asked again.
func TestReadThatCrashesTheProvider(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		release := filepath.Join(t.TempDir(), "release")
		result := c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(map[string]cty.Value{
			"name": cty.StringVal("a"), "hold": cty.StringVal(release),
		})))
		eventually(t, "the change is under way", func() bool { return slices.Contains(r.notes(), "create a") })
		if got, err := r.read(t.Context(), "east/crash"); !errors.Is(err, plugins.ErrCrashed) || got.Exists {
			t.Errorf("read %+v, %v", got, err)
		}
		if got, err := r.read(t.Context(), "east/b"); err != nil || !got.Exists {
			t.Errorf("after the crash: read %+v, %v", got, err)
		}
		if r.pid("import east/b in east") == r.pid("import east/crash in east") {
			t.Error("a process that crashed was used again")
		}
		touch(t, release)
		if err := <-result; err != nil {
			t.Errorf("the change ended with %v", err)
		}
		if got := r.gate.ended(); len(got) != 1 || got[0].Result != Succeeded {
			t.Errorf("outcomes are %+v", got)
		}
	})
}

// The provider does not answer; the caller has no more patience.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := r.read(ctx, "east/hang")
			result <- err
		}()
		eventually(t, "the provider is asked", func() bool { return slices.Contains(r.notes(), "import east/hang in east") })
		cancel(enough)
		if err := <-result; !errors.Is(err, enough) {
			t.Errorf("error %v, want the cause", err)
		}
		c.create(named("a"))
	})
}

func TestReadEndsWithTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	r.dial().configure("east")
	result := make(chan error, 1)
	go func() {
		_, err := r.read(context.Background(), "east/hang")
		result <- err
	}()
	eventually(t, "the provider is asked", func() bool { return slices.Contains(r.notes(), "import east/hang in east") })
	r.close(t.Context())
	if err := <-result; !errors.Is(err, errClosing) {
		t.Errorf("error %v, want that the host is closing", err)
	}
	if _, err := r.read(t.Context(), "east/a"); !errors.Is(err, errClosing) {
		t.Errorf("after the end: %v", err)
	}
}

// An object is read where it is said to be, and nowhere by guess.
func TestReadWithAConfiguration(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		if _, err := r.read(t.Context(), "east/a"); !errors.Is(err, ErrNotConfigured) {
			t.Errorf("before any configuration: %v", err)
		}
		unknown := r.dial()
		unknown.mustCall("ConfigureProvider", unknown.configureRequest(map[string]cty.Value{"region": cty.UnknownVal(cty.String)}))
		if _, err := r.read(t.Context(), "east/a"); !errors.Is(err, ErrNotConfigured) {
			t.Errorf("with a configuration that is not known yet: %v", err)
		}
		r.dial().configure("east")
		if _, err := r.read(t.Context(), "east/a"); err != nil {
			t.Errorf("with the only configuration that is known: %v", err)
		}
		r.dial().configure("west")
		if _, err := r.read(t.Context(), "east/a"); !errors.Is(err, ErrConfigurations) {
			t.Errorf("with two configurations: %v", err)
		}
		read := func(region string) error {
			_, err := r.host.Read(t.Context(), Target{
				Provider: plugintest.Source, Type: "fixture_thing", ID: region + "/a",
				Config: object(configType, map[string]cty.Value{"region": cty.StringVal(region), "key": cty.StringVal("s3cr3t-key")}),
			})
			return err
		}
		if err := errors.Join(read("west"), read("east")); err != nil {
			t.Error(err)
		}
		if err := read("north"); !errors.Is(err, ErrNotConfigured) {
			t.Errorf("with another configuration: %v", err)
		}
		imports := slices.DeleteFunc(r.notes(), func(n string) bool { return !strings.HasPrefix(n, "import ") })
		wantEvents(t, imports, "import east/a in east", "import west/a in west", "import east/a in east")
	})
}

// Reads take no slot of the changes, and share one process among them, which
// goes when nothing is read any more and comes again.
func TestReadBesideChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 200*time.Millisecond, func(o *Options) { o.ForwardLimit = 1 })
	c := r.dial().configure("east")
	release := filepath.Join(t.TempDir(), "release")
	result := c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(map[string]cty.Value{
		"name": cty.StringVal("a"), "hold": cty.StringVal(release),
	})))
	eventually(t, "the change is under way", func() bool { return slices.Contains(r.notes(), "create a") })
	reads := make(chan error, 8)
	for range cap(reads) {
		go func() {
			_, err := r.read(t.Context(), "east/b")
			reads <- err
		}()
	}
	for range cap(reads) {
		if err := <-reads; err != nil {
			t.Error(err)
		}
	}
	first := r.pid("import east/b in east")
	if first == r.pid("create a") {
		t.Error("objects are read by the process that makes changes")
	}
	eventually(t, "the reading process is gone", func() bool { return r.host.Processes() == 2 })
	if got, err := r.read(t.Context(), "east/b"); err != nil || !got.Exists {
		t.Errorf("read %+v, %v", got, err)
	}
	if r.pid("import east/b in east") == first {
		t.Error("the process was not gone")
	}
	touch(t, release)
	if err := <-result; err != nil {
		t.Error(err)
	}
	if strings.Contains(r.log.String(), "s3cr3t") {
		t.Errorf("the log tells the configuration:\n%s", r.log)
	}
}
