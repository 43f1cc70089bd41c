// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// sampling is how often the memory of a run is looked at.
const sampling = 20 * time.Millisecond

// peak waits for a run and returns the most memory that its process had at a time,
// without its descendants, in bytes. The kernel keeps the maximum, so that only
// what comes after the last look is missed. It is 0 where the system does not say.
func peak(r *lab.Run) (most int64, err error) {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case <-r.Done():
			return most, r.Wait()
		case <-tick.C:
			most = max(most, highWater(r.PID()))
		}
	}
}

// highWater is VmHWM of /proc/PID/status.
func highWater(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// clockTicks is how many of the kernel's units of processor time a second has,
// as /proc shows them on every Linux.
const clockTicks = 100

// worked is how long processors have worked for a process so far; 0 for none.
func worked(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || pid == 0 {
		return 0
	}
	// After the name in parentheses: state is the first field, utime and stime are
	// the twelfth and the thirteenth.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks
}
