// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

// failure is a call that failed without a state, and nobody knows why.
func failure() intercept.Outcome {
	return intercept.Outcome{
		Result: intercept.Failed, NewState: cty.NullVal(object("").Type()),
		Diagnostics: []intercept.Diagnostic{{Error: true, Summary: "Odd answer", Detail: "502"}},
	}
}

func TestUnclearFailuresAreReadBack(t *testing.T) {
	t.Parallel()
	const lands = 700 * time.Millisecond
	dead := intercept.Outcome{Result: intercept.Unknown, Err: errors.New("crashed"), SenderDead: true}
	always := func(o intercept.Object) func(int) intercept.Object { return func(int) intercept.Object { return o } }
	for name, tt := range map[string]struct {
		action intercept.Action
		given  intercept.Outcome
		found  func(n int) intercept.Object
		want   client.Outcome
		early  bool
	}{
		"created all the same": {intercept.Create, failure(), always(there(string(subnetID))), client.Outcome{Result: admission.Errored, Exists: true, Digest: "without secret"}, true},
		"not created":          {intercept.Create, failure(), always(gone()), client.Outcome{Result: admission.Errored}, false},
		"created late": {intercept.Create, failure(), func(n int) intercept.Object {
			if n == 0 {
				return gone()
			}
			return there(string(subnetID))
		}, client.Outcome{Result: admission.Errored, Exists: true, Digest: "without secret"}, true},
		"deleted all the same":      {intercept.Delete, failure(), always(gone()), client.Outcome{Result: admission.Errored}, true},
		"not deleted":               {intercept.Delete, failure(), always(there(string(subnetID))), client.Outcome{Result: admission.Errored, Exists: true, Digest: "without secret"}, false},
		"updated or not":            {intercept.Update, failure(), always(there(string(subnetID))), client.Outcome{Result: admission.Errored, Exists: true, Digest: "without secret"}, false},
		"the provider crashed":      {intercept.Create, dead, always(gone()), client.Outcome{Result: admission.Errored}, false},
		"crashed, and created":      {intercept.Create, dead, always(there(string(subnetID))), client.Outcome{Result: admission.Errored, Exists: true, Digest: "without secret"}, true},
		"refused, with what it was": {intercept.Delete, intercept.Outcome{Result: intercept.Failed, NewState: object(string(subnetID))}, nil, client.Outcome{Result: admission.Errored, Exists: true, Digest: "digest"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := lands
			if tt.early { // it must not be waited for
				wait = time.Hour
			}
			r := newRig(t, func(c *Config) { c.Engine = fakeEngine{lands: wait} })
			r.readable(func(n int, _ string) (intercept.Object, error) { return tt.found(n), nil })
			permit, grant := admitted(t, r, tt.action)
			if err := permit.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			permit.Done(t.Context(), tt.given)
			r.Await(t.Context())
			if took := time.Since(begun); !tt.early && took < lands {
				t.Errorf("decided after %s, when the call could still land", took)
			}
			if got := grant.told(); got == nil || *got != tt.want {
				t.Errorf("recorded %+v, want %+v", got, tt.want)
			}
			if u := r.Summary().Uncertain; len(u) != 0 {
				t.Errorf("uncertain %+v", u)
			}
		})
	}
}

func TestACreateInProgressIsAwaited(t *testing.T) {
	t.Parallel()
	n := 0
	r := newRig(t, func(c *Config) {
		c.Engine = fakeEngine{lands: time.Millisecond, busy: func() bool { n++; return n < 3 }}
	})
	r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	permit, grant := admitted(t, r, intercept.Create)
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), failure())
	r.Await(t.Context())
	if o := grant.told(); n != 3 || o == nil || !o.Exists {
		t.Errorf("%d looks, recorded %+v", n, o)
	}
}

func TestWhatCannotBeReadIsLost(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fakeEngine){
		"no way to read": func(e *fakeEngine) { e.unreadable = errors.New("no importer") },
		"forbidden":      func(*fakeEngine) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var engine fakeEngine
			change(&engine)
			r := newRig(t, func(c *Config) { c.Engine = engine })
			r.readable(func(int, string) (intercept.Object, error) { return intercept.Object{}, errors.New("forbidden") })
			permit, grant := admitted(t, r, intercept.Create)
			if err := permit.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			permit.Done(t.Context(), failure())
			for grant.told() == nil {
				time.Sleep(time.Millisecond)
			}
			if o := grant.told(); o.Result != admission.Lost {
				t.Errorf("recorded %+v", o)
			}
			if u := r.Summary().Uncertain; len(u) != 1 || u[0].GaveUp {
				t.Errorf("uncertain %+v", u)
			}
		})
	}
}

// A type without a rule locks nothing that anybody else wants, and nobody could
// ever find out.
func TestAFailureWithoutARuleIsAFailure(t *testing.T) {
	t.Parallel()
	for action, left := range map[intercept.Action]bool{intercept.Create: false, intercept.Update: true, intercept.Delete: true} {
		r := newRig(t, func(c *Config) { c.Engine = fakeEngine{unruled: true} })
		permit, grant := admitted(t, r, action)
		if err := permit.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		permit.Done(t.Context(), failure())
		if o := grant.told(); o == nil || o.Result != admission.Errored || o.Exists != left {
			t.Errorf("%s: recorded %+v", action, o)
		}
	}
}

func TestADefiniteRefusalNeedsNoReading(t *testing.T) {
	t.Parallel()
	for action, left := range map[intercept.Action]bool{intercept.Create: false, intercept.Delete: true} {
		r := newRig(t, func(c *Config) { c.Engine = fakeEngine{definite: true} })
		reader := r.readable(nil)
		permit, grant := admitted(t, r, action)
		if err := permit.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		permit.Done(t.Context(), failure())
		if o := grant.told(); o == nil || o.Result != admission.Errored || o.Exists != left || reader.reads() != 0 {
			t.Errorf("%s: recorded %+v after %d reads", action, o, reader.reads())
		}
	}
}

func TestARunSettlesItsOwnLostCreate(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
	permit, grant := admitted(t, r, intercept.Create)
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), intercept.Outcome{
		Result: intercept.Failed, NewState: cty.NullVal(object("").Type()),
		Diagnostics: []intercept.Diagnostic{{Error: true, Summary: "accepted, then: context canceled"}},
	})
	if o := grant.told(); o == nil || o.Result != admission.Lost {
		t.Fatalf("recorded %+v", o)
	}
	r.Await(t.Context())
	if s := r.session.settled; len(s) != 1 || s[0].Tx != "t1" || !s[0].Exists {
		t.Errorf("settled %+v", s)
	}
	s := r.Summary()
	if len(s.Uncertain) != 0 || len(s.Settled) != 1 || s.Settled[0].Whose != "this run" {
		t.Errorf("summary %+v", s)
	}
}

func TestInvestigationsEndWithTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{lands: time.Hour} })
	r.readable(func(int, string) (intercept.Object, error) { return gone(), nil })
	permit, grant := admitted(t, r, intercept.Create)
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), failure())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r.Await(ctx)
	if o := grant.told(); o == nil || o.Result != admission.Lost {
		t.Errorf("recorded %+v", o)
	}
}
