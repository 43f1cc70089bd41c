// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// held is a thing whose change waits for a file.
func (c *cli) held(name, file string) cty.Value {
	return c.thing(map[string]cty.Value{"name": cty.StringVal(name), "hold": cty.StringVal(file)})
}

func release(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHangUpDoesNotCancelAChange(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, protocol int) {
		r := newRig(t, protocol, &testGate{}, 0, nil)
		c := r.dial().configure("east")
		file := filepath.Join(t.TempDir(), "go")
		result := c.applyLater(t.Context(), c.plan(c.nothing(), c.held("a", file)))
		eventually(t, "the provider is at work", func() bool { return slices.Contains(r.notes(), "create a") })
		c.hangUp()
		if err := <-result; err == nil {
			t.Error("a call survived its connection")
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			r.close(context.Background())
		}()
		release(t, file)
		<-closed
		wantEvents(t, r.notes(), "configure east", "create a", "done a")
		got := r.gate.ended()
		if len(got) != 1 || got[0].Result != Succeeded || got[0].NewState.GetAttr("id").AsString() != "east/a" {
			t.Errorf("outcomes are %+v", got)
		}
	})
}

func TestHangUpEndsAdmission(t *testing.T) {
	t.Parallel()
	waiting, ended := make(chan struct{}), make(chan struct{})
	gate := &testGate{admit: func(ctx context.Context, _ Call) error {
		close(waiting)
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}}
	r := newRig(t, 6, gate, 0, nil)
	c := r.dial().configure("east")
	c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(named("a"))))
	<-waiting
	c.hangUp()
	<-ended
	r.close(t.Context())
	wantEvents(t, r.notes(), "configure east")
}

func TestCloseEndsAdmission(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	gate := &testGate{admit: func(ctx context.Context, _ Call) error {
		close(waiting)
		<-ctx.Done()
		return ctx.Err()
	}}
	r := newRig(t, 6, gate, 0, nil)
	c := r.dial().configure("east")
	result := c.applyLater(t.Context(), c.plan(c.nothing(), c.thing(named("a"))))
	<-waiting
	r.close(t.Context())
	if err := <-result; err == nil {
		t.Error("a change was sent by a host that is closed")
	}
	wantEvents(t, r.notes(), "configure east")
}

func TestChangeIsBoundedAfterHangUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, func(o *Options) { o.HangupGrace = 50 * time.Millisecond })
	c := r.dial().configure("east")
	c.applyLater(t.Context(), c.plan(c.nothing(), c.held("a", filepath.Join(t.TempDir(), "never"))))
	eventually(t, "the provider is at work", func() bool { return slices.Contains(r.notes(), "create a") })
	if len(r.gate.ended()) != 0 {
		t.Fatal("the change ended while the CLI was there")
	}
	c.hangUp()
	eventually(t, "the outcome is reported", func() bool { return len(r.gate.ended()) == 1 })
	if got := r.gate.ended()[0]; got.Result != Unknown || !errors.Is(got.Err, context.DeadlineExceeded) || got.NewState != cty.NilVal || got.SenderDead {
		t.Errorf("outcome is %+v", got)
	}
}

func TestCloseAbandonsChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, &testGate{}, 0, nil)
	c := r.dial().configure("east")
	result := c.applyLater(t.Context(), c.plan(c.nothing(), c.held("a", filepath.Join(t.TempDir(), "never"))))
	eventually(t, "the provider is at work", func() bool { return slices.Contains(r.notes(), "create a") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.close(ctx)
	if err := <-result; err == nil {
		t.Error("an abandoned change has an answer")
	}
	if got := r.gate.ended(); len(got) != 1 || got[0].Result != Unknown || !errors.Is(got[0].Err, errClosing) {
		t.Errorf("outcomes are %+v", got)
	}
	if got := r.host.Processes(); got != 0 {
		t.Errorf("%d processes survive", got)
	}
}
