// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// TestWhoIsOnlyClaimed: what nobody has verified is marked on either side, and
// the text stays as short as it was.
func TestWhoIsOnlyClaimed(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string]map[string]string{
		"over a network":       {"tfweaver/identity": "claimed"},
		"from the environment": {"tfweaver/identity": "local", "claimed": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, admission.Queue)
			s.do(admission.OpenSession{
				Stamp:   s.at(),
				Session: admission.Session{ID: "far-1", Actor: "kim", Policy: admission.Queue, Lease: 3600e9, Labels: labels},
				Intent:  admission.Intent{ID: "far-1.1", Session: "far-1", Objective: "elsewhere"},
			})
			s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: call("far-1", admission.Update, "")})
			s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: call("net-7", admission.Update, "")})
			s.do(admission.Submit{Stamp: s.at(), ID: "t-3", Request: call("far-1", admission.Delete, "")})
			waits := Build(s.State, "t-2", "net-7")
			if h := waits.Conflicts[0].Holder; h == nil || h.Actor != "kim" || !h.ActorClaimed || waits.Requester.ActorClaimed {
				t.Errorf("%+v, requested by %+v", h, waits.Requester)
			}
			lacks(t, Text(waits), "by kim (session far-1, intent 'elsewhere'")
			if r := Build(s.State, "t-3", "far-1"); !r.Requester.ActorClaimed {
				t.Errorf("requested by %+v", r.Requester)
			}
		})
	}
}
