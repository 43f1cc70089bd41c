// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
)

func admitted(t *testing.T, r rig, action intercept.Action) (intercept.Permit, *fakeGrant) {
	t.Helper()
	grant := &fakeGrant{}
	r.session.submit = func(context.Context, int, func(client.Waiting)) (Grant, error) { return grant, nil }
	permit, err := r.Admit(t.Context(), call(action))
	if err != nil {
		t.Fatal(err)
	}
	return permit, grant
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	null := cty.NullVal(object("").Type())
	tests := map[string]struct {
		action intercept.Action
		given  intercept.Outcome
		want   client.Outcome
	}{
		"created under the id that was foreseen": {
			intercept.Create,
			intercept.Outcome{Result: intercept.Succeeded, NewState: object(string(subnetID))},
			client.Outcome{Result: admission.Succeeded, Exists: true, Digest: "digest"},
		},
		"created under an id of the cloud's": {
			intercept.Create,
			intercept.Outcome{Result: intercept.Succeeded, NewState: object("/net/x-17")},
			client.Outcome{
				Result: admission.Succeeded, Exists: true, Digest: "digest",
				BindID: "/net/x-17", BindParent: "/net", BindType: "simcloud_subnet",
			},
		},
		"updated": {
			intercept.Update,
			intercept.Outcome{Result: intercept.Succeeded, NewState: object("/net/x-17")},
			client.Outcome{Result: admission.Succeeded, Exists: true, Digest: "digest"},
		},
		"deleted": {
			intercept.Delete,
			intercept.Outcome{Result: intercept.Succeeded, NewState: null},
			client.Outcome{Result: admission.Succeeded},
		},
		"failed without a trace": {
			intercept.Create,
			intercept.Outcome{Result: intercept.Failed, NewState: null, Diagnostics: []intercept.Diagnostic{{Error: true, Summary: "Forbidden"}}},
			client.Outcome{Result: admission.Errored},
		},
		"failed half-way": {
			intercept.Create,
			intercept.Outcome{Result: intercept.Failed, NewState: object("/net/x-17")},
			client.Outcome{
				Result: admission.Errored, Exists: true, Digest: "digest",
				BindID: "/net/x-17", BindParent: "/net", BindType: "simcloud_subnet",
			},
		},
		"lost": {
			intercept.Update,
			intercept.Outcome{Result: intercept.Unknown, Err: errors.New("gone")},
			client.Outcome{Result: admission.Lost},
		},
		"the provider stopped waiting": {
			intercept.Delete,
			intercept.Outcome{
				Result: intercept.Failed, NewState: object("/net/sub"),
				Diagnostics: []intercept.Diagnostic{{Error: true, Summary: "Cannot delete", Detail: "accepted, then: context canceled"}},
			},
			client.Outcome{Result: admission.Lost, Exists: true},
		},
		"a warning about waiting": {
			intercept.Delete,
			intercept.Outcome{
				Result: intercept.Failed, NewState: object("/net/sub"),
				Diagnostics: []intercept.Diagnostic{{Summary: "context canceled"}, {Error: true, Summary: "Forbidden"}},
			},
			client.Outcome{Result: admission.Errored, Exists: true, Digest: "digest"},
		},
		"not sent after all": {
			intercept.Delete,
			intercept.Outcome{Result: intercept.NotSent},
			client.Outcome{Result: admission.NotSent, Exists: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Engine = fakeEngine{definite: true} })
			permit, grant := admitted(t, r, tt.action)
			if err := permit.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			permit.Done(t.Context(), tt.given)
			if grant.outcome == nil || grant.withdrawn {
				t.Fatalf("outcome %v, withdrawn %v", grant.outcome, grant.withdrawn)
			}
			if diff := cmp.Diff(tt.want, *grant.outcome); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if lost := len(r.Summary().Uncertain) == 1; lost != (tt.want.Result == admission.Lost) {
				t.Errorf("summary %+v", r.Summary())
			}
			for _, u := range r.Summary().Uncertain {
				if u.GaveUp != (name == "the provider stopped waiting") {
					t.Errorf("told as %+v", u)
				}
			}
		})
	}
}

func TestACallThatWasNeverStartedIsWithdrawn(t *testing.T) {
	t.Parallel()
	permit, grant := admitted(t, newRig(t, nil), intercept.Create)
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.NotSent})
	if !grant.withdrawn || grant.outcome != nil {
		t.Errorf("withdrawn %v, outcome %v", grant.withdrawn, grant.outcome)
	}
}

// A start whose answer was lost may have been journalled, so the transaction
// must be completed; a withdrawal would be refused.
func TestAStartThatFailedIsCompleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	permit, grant := admitted(t, r, intercept.Create)
	grant.startErr = errors.New("too late to send")
	wantRefusal(t, permit.Start(t.Context()), "simcloud_subnet.b", "too late to send")
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.NotSent})
	if grant.withdrawn || grant.outcome == nil || grant.outcome.Result != admission.NotSent {
		t.Errorf("withdrawn %v, outcome %+v", grant.withdrawn, grant.outcome)
	}
}
