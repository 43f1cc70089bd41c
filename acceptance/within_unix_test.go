// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

// TestAProvisionerAppliesWithinItsRun: the provisioner of a network applies a
// subnet of it, with tfweaver, from a state of its own. The network is held until
// the outer run has ended, which waits for the inner one. Where the inner run does
// not know within which it is, it waits for nothing.
func TestAProvisionerAppliesWithinItsRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prefix string
		code   int
	}{
		"knowing it":     {"", 0},
		"not knowing it": {"env -u TFWEAVER_SESSIONS ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lab.Setup{Cloud: fast()})
			inner := b.workspace("inner", subnet("net", "inner", 1))
			provisioned := fmt.Sprintf("tags                = {  }\n  provisioner \"local-exec\" {\n    working_dir = %q\n    command     = %q\n  }",
				inner.Dir, tt.prefix+shared.Binaries.Tfweaver+" apply -auto-approve -no-color -weaver-wait=2s")
			outer := b.workspace("outer", group()+strings.Replace(network("net", ""), "tags                = {  }", provisioned, 1))
			run := b.tfweaver(outer, tt.code, "apply", "-auto-approve", "-no-color")
			if made := lab.Wrote("subnets", "inner", activity.Succeeded)(b.log()); made != (tt.code == 0) {
				t.Errorf("the subnet was made: %v", made)
			}
			if passed := strings.Contains(unwrapped(run.Said()), "a part of the run that holds it"); passed != (tt.code == 0) {
				t.Errorf("it is said why the subnet goes on: %v", passed)
			}
		})
	}
}
