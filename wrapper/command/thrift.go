// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"os"
	"runtime/debug"
)

// garbage is how much of it a coordinated run may keep, in percent of what it
// needs. Runs of tfweaver are added to those of the CLI, often many on one machine,
// and collect so little garbage that doing it more often is not seen in their
// processor time.
const garbage = 40

// thrift sets that for this process, unless the user has set it (GOGC).
func thrift() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
