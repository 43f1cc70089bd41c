// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// TestProxiesAreNotInherited: what runs within a run sees the environment as it
// was around it.
func TestProxiesAreNotInherited(t *testing.T) {
	t.Parallel()
	for _, env := range []arguments.Environment{
		{"A=1", "B=2"},
		{"A=1", "TF_REATTACH_PROVIDERS={\"theirs\":{}}"},
	} {
		within := attached(env, `{"ours":{}}`)
		if got := within.Get("TF_REATTACH_PROVIDERS"); got != `{"ours":{}}` {
			t.Errorf("the CLI gets %q", got)
		}
		if diff := cmp.Diff(env, detached(within)); diff != "" {
			t.Errorf("within a run (-around it +within):\n%s", diff)
		}
		if diff := cmp.Diff(env, detached(env)); diff != "" {
			t.Errorf("outside of any run (-before +after):\n%s", diff)
		}
	}
}
