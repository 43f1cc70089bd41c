// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// away loses the coordinator.
func away(r rig) {
	r.session.err = fmt.Errorf("no answer for a whole lease: %w", client.ErrUnreachable)
	close(r.session.done)
}

func offline(c *Config) { c.Offline = true }

func TestALostCoordinatorRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	away(r)
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "simcloud_subnet.b", "Nothing was changed", "-weaver-offline=allow")
}

func TestALostCoordinatorMayBeDoneWithout(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline)
	away(r)
	for range 2 {
		permit, err := r.Admit(t.Context(), call(intercept.Create))
		if err != nil {
			t.Fatal(err)
		}
		if err := permit.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded, NewState: object("x")})
	}
	if n := len(r.view.problems); n != 1 {
		t.Errorf("warned loudly %d times", n)
	}
	if p := r.Summary().Passed; len(p) != 2 || p[0].Mode != views.Offline || p[0].Address != "simcloud_subnet.b" {
		t.Errorf("told as %+v", p)
	}
}

func TestTheCoordinatorMayBeLostWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{true, false} {
		r := newRig(t, func(c *Config) { c.Offline = allow })
		r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) {
			return nil, fmt.Errorf("%w at hub", client.ErrUnreachable)
		}
		_, err := r.Admit(t.Context(), call(intercept.Create))
		if (err == nil) != allow {
			t.Errorf("allow %v: %v", allow, err)
		}
	}
}

// A coordinator that answers that the session has ended is not lost: others may
// have been admitted since.
func TestAnEndedSessionIsNoLostCoordinator(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline)
	r.session.err = fmt.Errorf("lease ran out: %w", client.ErrSessionEnded)
	close(r.session.done)
	_, err := r.Admit(t.Context(), call(intercept.Create))
	wantRefusal(t, err, "lease ran out")
	if p := r.Summary().Passed; len(p) != 0 {
		t.Errorf("passed %+v", p)
	}
}

func TestAnAdmittedCallMayStartAlone(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{true, false} {
		r := newRig(t, func(c *Config) { c.Offline = allow })
		permit, grant := admitted(t, r, intercept.Create)
		grant.startErr = client.ErrUnreachable
		if err := permit.Start(t.Context()); (err == nil) != allow {
			t.Errorf("allow %v: %v", allow, err)
		}
		if n := len(r.Summary().Passed); (n == 1) != allow {
			t.Errorf("allow %v: %d passed", allow, n)
		}
	}
}

func TestOutcomesAreOfferedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	permit, grant := admitted(t, r, intercept.Create)
	grant.complete = func(n int) error {
		if n < 2 {
			return client.ErrUnreachable
		}
		return nil
	}
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded, NewState: object(string(subnetID))})
	r.Finish(t.Context())
	if o := grant.told(); o == nil || o.Result != admission.Succeeded {
		t.Errorf("recorded %+v", o)
	}
	if u := r.Summary().Uncertain; len(u) != 0 {
		t.Errorf("uncertain %+v", u)
	}
}

func TestAnOutcomeThatCannotBeToldIsUncertain(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"away": client.ErrUnreachable, "refused": errors.New("no such transaction")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			permit, grant := admitted(t, r, intercept.Create)
			grant.complete = func(int) error { return err }
			if err := permit.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded, NewState: object(string(subnetID))})
			ctx, stop := context.WithCancel(t.Context())
			stop()
			r.Finish(ctx)
			if u := r.Summary().Uncertain; len(u) != 1 {
				t.Errorf("uncertain %+v", u)
			}
		})
	}
}
