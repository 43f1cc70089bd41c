// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD: the calling thread alone.
const rusageThread = 1

// processor is the processor time of the calling thread, in steps of
// a microsecond or more: sums are to be trusted, single differences are not.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
