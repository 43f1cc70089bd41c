// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"bytes"
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestPlansAreNotDecoded: plans are looked at for nothing but what a refusal has to
// give back, and counted.
func TestPlansAreNotDecoded(t *testing.T) {
	t.Parallel()
	gate := &testGate{}
	r := newRig(t, 6, gate, 0, nil)
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
	wantEvents(t, r.watcher.seen(), "configured east", "planned fixture_thing", "planned fixture_thing")
}
