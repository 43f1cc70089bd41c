// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestStopWakesAdmission(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		waiting := make(chan struct{}, 8)
		gate := &testGate{admit: func(ctx context.Context, _ Call) error {
			waiting <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}}
		r := newRig(t, protocol, gate, 0, nil)
		c := r.dial().configure("east")
		var results []chan error
		for _, name := range []string{"a", "b", "c"} {
			results = append(results, c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(named(name)))))
		}
		for range results {
			<-waiting
		}
		c.mustCall("StopProvider", c.request("StopProvider"))
		for _, result := range results {
			if err := <-result; err == nil || !strings.Contains(err.Error(), "Interrupted") {
				t.Errorf("got %v", err)
			}
		}
		if !slices.Contains(r.watcher.seen(), "stopping") {
			t.Error("the watcher was not told")
		}
		// A change that comes after the request to stop is not sent either.
		gate.admit = nil
		if err := <-c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(named("d")))); err == nil {
			t.Error("a change was sent after the request to stop")
		}
		wantEvents(t, r.notes(), "configure east")
	})
}

func TestStopReachesTheProvider(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		result := c.applyLater(t.Context(), c.plan(c.nothing(), c.held("a", filepath.Join(t.TempDir(), "never"))))
		eventually(t, "the provider is at work", func() bool { return slices.Contains(r.notes(), "create a") })
		c.mustCall("StopProvider", c.request("StopProvider"))
		if err := <-result; err == nil || !strings.Contains(err.Error(), "Cancelled") {
			t.Errorf("got %v, want the provider's own answer", err)
		}
		if got := r.gate.ended(); len(got) != 1 || got[0].Result != Failed {
			t.Errorf("outcomes are %+v", got)
		}
	})
}

func TestStopStartsNoProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	before := r.host.Processes()
	c := r.dial()
	c.mustCall("StopProvider", c.request("StopProvider"))
	if got := r.host.Processes(); got != before || before != 1 {
		t.Errorf("%d processes run, %d before", got, before)
	}
}
