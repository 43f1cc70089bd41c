// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package lab

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// processesWith are the processes whose environment has a setting, as ps tells
// it of one's own processes.
func processesWith(setting string) ([]Process, error) {
	out, err := exec.Command("ps", "-axwwE", "-o", "pid=,ppid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var found []Process
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !slices.Contains(fields[3:], setting) {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			found = append(found, Process{PID: pid, Parent: parent, Program: filepath.Base(fields[2]), Args: fields[3:]})
		}
	}
	return found, nil
}
