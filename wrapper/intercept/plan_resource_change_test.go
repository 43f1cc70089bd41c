// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestPlansAreNotWatched: unless the watcher wants them, plans are looked at for
// nothing but what a refusal has to give back.
func TestPlansAreNotWatched(t *testing.T) {
	t.Parallel()
	gate := &testGate{}
	r := newRig(t, 6, gate, 0, func(o *Options) { o.WatchPlans = false })
	c := r.dial().configure("east")
	made := c.create(named("a"))
	if len(made.private) == 0 {
		t.Fatal("the provider keeps no private data")
	}
	gate.admit = func(context.Context, Call) error { return &Refusal{Summary: "no"} }
	larger := c.thing(map[string]cty.Value{"name": cty.StringVal("a"), "size": cty.NumberIntVal(2)})
	planned := c.plan(made, larger)
	planned.plannedPrivate = []byte("what the change would have made of them")
	kept, response := c.apply(planned)
	if !response.failed() || !bytes.Equal(kept.private, made.private) || !kept.value.RawEquals(made.value) {
		t.Errorf("the refused change left %#v with %q", kept.value, kept.private)
	}
	if events := strings.Join(r.watcher.seen(), "\n"); strings.Contains(events, "planned") {
		t.Errorf("the watcher was told %s", events)
	}
}
