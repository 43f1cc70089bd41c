// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startTimeField is the place of the start time in /proc/PID/stat, counted from
// the state, which is the third field (proc_pid_stat(5)).
const startTimeField = 22 - 3

// startOf returns which process has a number, in the form of [Sender].
func startOf(pid int) (string, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	space, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return "", false
	}
	ticks, ok := ticksOf(pid)
	if !ok {
		return "", false
	}
	number := strings.TrimSuffix(strings.TrimPrefix(space, "pid:["), "]")
	return strings.TrimSpace(string(boot)) + "/" + number + "/" + ticks, true
}

// ticksOf returns when a process began.
func ticksOf(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the program's name in parentheses; it may hold any
	// character, these included.
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) <= startTimeField {
		return "", false
	}
	return string(fields[startTimeField]), true
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
