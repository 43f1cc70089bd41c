// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// depthVariable counts how often tfweaver runs within itself. Once or twice
// is normal (a provisioner may run it); a shell script that is called
// "terraform" and runs tfweaver would go on for ever.
const depthVariable = "TFWEAVER_DEPTH"

// maxDepth ends what [callerVariable] does not find out.
const maxDepth = 8

// callerVariable says which process of tfweaver runs the CLI, and how: as its
// child, or in its own place. It tells a program that is taken for the CLI and
// comes back to tfweaver from a tfweaver that something inside of a run starts.
const callerVariable = "TFWEAVER_CALLER"

const (
	asChild = "child:"
	inPlace = "place:"
)

// Deeper is the environment for a CLI that tfweaver starts, with the depth counted
// on.
func Deeper(env arguments.Environment) arguments.Environment { return called(env, asChild) }

// Handover is the environment for a CLI that takes tfweaver's place.
func Handover(env arguments.Environment) arguments.Environment {
	if runtime.GOOS == "windows" { // it does not, there
		return called(env, asChild)
	}
	return called(env, inPlace)
}

func called(env arguments.Environment, how string) arguments.Environment {
	return env.With(depthVariable, fmt.Sprint(depth(env)+1)).With(callerVariable, how+strconv.Itoa(os.Getpid()))
}

// calledAgain says whether this process, with this number and that of its parent,
// was started in the place of the CLI.
func calledAgain(env arguments.Environment, pid, parent int) bool {
	caller := env.Get(callerVariable)
	switch {
	case depth(env) >= maxDepth:
		return true
	case caller == inPlace+strconv.Itoa(pid):
		return true
	default:
		// Orphans come to the first process, which may be tfweaver in a container.
		return parent > 1 && caller == asChild+strconv.Itoa(parent)
	}
}

func depth(env arguments.Environment) int {
	n, err := strconv.Atoi(strings.TrimSpace(env.Get(depthVariable)))
	if err != nil {
		return 0
	}
	return n
}
