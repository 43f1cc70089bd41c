// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func TestCalledAgain(t *testing.T) {
	t.Parallel()
	own := os.Getpid()
	child := Deeper(arguments.Environment{})
	place := Handover(arguments.Environment{})
	if runtime.GOOS == "windows" {
		place = arguments.Environment{fmt.Sprintf("%s=%s%d", callerVariable, inPlace, own)}
	}
	tests := map[string]struct {
		env         arguments.Environment
		pid, parent int
		want        bool
	}{
		"the first":                             {arguments.Environment{}, own, 7, false},
		"the CLI that was started comes back":   {child, own + 1, own, true},
		"a script that the CLI ran":             {child, own + 2, own + 1, false},
		"the CLI in its place comes back":       {place, own, 7, true},
		"a provisioner of the CLI in its place": {place, own + 1, own, false},
		"an orphan in a container":              {arguments.Environment{callerVariable + "=" + asChild + "1"}, 9, 1, false},
		"too deep":                              {arguments.Environment{depthVariable + "=8"}, own, 7, true},
		"not yet too deep":                      {arguments.Environment{depthVariable + "=7"}, own, 7, false},
	}
	for name, tt := range tests {
		if got := calledAgain(tt.env, tt.pid, tt.parent); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
