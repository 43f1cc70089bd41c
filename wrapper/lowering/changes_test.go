// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// TestChanges: what a plan does is told of all of it, also of what sends no call.
func TestChanges(t *testing.T) {
	t.Parallel()
	type changes = map[string]string
	tests := map[string]struct {
		members   string
		applyable bool
		want      changes
	}{
		"says yes":  {`"applyable":true`, true, changes{}},
		"says no":   {`"applyable":false,"resource_changes":[{"address":"a.b","change":{"actions":["create"]}}]`, false, changes{"a.b": "create"}},
		"nothing":   {`"resource_changes":[{"change":{"actions":["no-op"]}},{"change":{"actions":["read"]}}],"output_changes":{"o":{"actions":["no-op"]}}`, false, changes{}},
		"replace":   {`"resource_changes":[{"address":"a.b","change":{"actions":["delete","create"]}},{"address":"a.c","change":{"actions":["create","delete"]}}]`, true, changes{"a.b": "replace", "a.c": "replace"}},
		"forget":    {`"resource_changes":[{"address":"a.b","change":{"actions":["create","forget"]}}]`, true, changes{"a.b": "create and forget"}},
		"deposed":   {`"resource_changes":[{"address":"a.b","deposed":"0a","change":{"actions":["delete"]}}]`, true, changes{"a.b (deposed 0a)": "delete"}},
		"an output": {`"output_changes":{"o":{"actions":["update"]}}`, true, changes{"output.o": "update"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := lowering.ReadFrom(t.Context(), strings.NewReader(`{"format_version":"1.2",`+tt.members+`}`), lowering.Sources{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plan.Changes); diff != "" || plan.Applyable != tt.applyable {
				t.Errorf("applyable %t, want %t; changes (-want +got):\n%s", plan.Applyable, tt.applyable, diff)
			}
		})
	}
}
