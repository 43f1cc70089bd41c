// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package admission

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of all processors, the garbage collector
// included: unlike the clock it says the same on a machine that others use.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
