// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"fmt"
	"os"
)

// startTimeField is the place of the start time in /proc/PID/stat, counted from
// the state, which is the third field (proc_pid_stat(5)).
const startTimeField = 22 - 3

// startOf returns when a process began; empty when it cannot be told.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses; it may hold any
	// character, these included.
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) <= startTimeField {
		return ""
	}
	return string(fields[startTimeField])
}

// runs says whether a process runs the program at a path.
func runs(pid int, path string) bool {
	running, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	program, err := os.Stat(path)
	return err == nil && os.SameFile(running, program)
}
