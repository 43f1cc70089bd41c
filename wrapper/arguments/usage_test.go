// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import "testing"

// TestMisuseIsLeftToTheCLI: all of these are errors of the CLI's, which name the
// command, and none of the others is.
func TestMisuseIsLeftToTheCLI(t *testing.T) {
	t.Parallel()
	misused := [][]string{
		{"apply", "-refresh-only", "-destroy"},
		{"apply", "-refresh-only", "-refresh=false"},
		{"destroy", "-destroy"},
		{"destroy", "-refresh-only"},
		{"apply", "-lock-timeout=x"},
		{"apply", "-lock-timeout", "3"},
		{"apply", "-lock-timeout="},
		{"apply", "-target=]"},
		{"apply", "-target="},
		{"apply", "-target=a"},
		{"apply", "-target=a.b[c]"},
		{"apply", "-target=data.a"},
		{"apply", "-target=a.b.c"},
		{"apply", "-target=a.b[0].c"},
		{"apply", "-target=a.3"},
		{"apply", "-target", "module"},
		{"apply", "-replace=module.a"},
		{"apply", "-replace=module.a.data.b.c"},
		{"apply", "-replace=data.a.b"},
	}
	for _, args := range misused {
		if !mustParse(t, args...).Options(nil).Unclear {
			t.Errorf("%v is taken for good", args)
		}
	}
	good := [][]string{
		{"apply", "-refresh-only", "-refresh"},
		{"apply", "-destroy"},
		{"destroy"},
		{"apply", "-lock-timeout=0s"},
		{"apply", "-lock-timeout", "1m30s"},
		{"apply", "-target=a.b"},
		{"apply", "-target=data.a.b[0]"},
		{"apply", "-target=module.a"},
		{"apply", `-target=module.a["x\"]y"].module.b[3]`},
		{"apply", `-target=module.a-b.a_1.größe["k k"]`},
		{"apply", "-target=ephemeral.a.b"},
		{"apply", "-replace=a.b[12]"},
		{"apply", `-replace=module.m["ü"].a.b`},
		{"destroy", "-target", "a.b"},
	}
	for _, args := range good {
		if mustParse(t, args...).Options(nil).Unclear {
			t.Errorf("%v is taken for a mistake", args)
		}
	}
}
