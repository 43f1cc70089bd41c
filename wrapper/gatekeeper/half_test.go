// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

func TestReplacesThatStopHalfWayAreTold(t *testing.T) {
	t.Parallel()
	half := []views.HalfDone{{Address: "simcloud_subnet.b", Done: []string{"delete"}, Left: []string{"create"}}}
	for name, tt := range map[string]struct {
		deleted, created intercept.Result
		want             []views.HalfDone
	}{
		"both":    {intercept.Succeeded, intercept.Succeeded, nil},
		"neither": {intercept.NotSent, intercept.NotSent, nil},
		"half":    {intercept.Succeeded, intercept.NotSent, half},
		"lost":    {intercept.Succeeded, intercept.Unknown, half},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			told := 0
			replace := replacing()
			replace.succeeded = func(admission.CallID) { told++ }
			r.Plan(replace)
			for action, result := range map[intercept.Action]intercept.Result{intercept.Delete: tt.deleted, intercept.Create: tt.created} {
				permit, _ := admitted(t, r, action)
				if err := permit.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				state := cty.NilVal
				if result == intercept.Succeeded {
					if state = object(string(subnetID)); action == intercept.Delete {
						state = cty.NullVal(state.Type())
					}
				}
				permit.Done(t.Context(), intercept.Outcome{Result: result, NewState: state})
			}
			if want := map[string]int{"both": 2, "half": 1, "lost": 1}[name]; told != want {
				t.Errorf("the plan was told of %d successes", told)
			}
			if diff := cmp.Diff(tt.want, r.Summary().HalfDone); diff != "" {
				t.Errorf("half done (-want +got):\n%s", diff)
			}
		})
	}
}
