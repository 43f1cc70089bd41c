// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processesWith are the processes whose environment has a setting. Processes
// that end while they are looked at are left out, and so are dead ones that
// nobody has waited for yet: they have no environment any more.
func processesWith(setting string) ([]Process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !hasEntry(env, setting) {
			continue
		}
		p, err := describe(dir)
		if err == nil {
			found = append(found, p)
		}
	}
	return found, nil
}

// hasEntry looks for one of the entries of an environment as the kernel keeps it.
func hasEntry(env []byte, setting string) bool {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if string(entry) == setting {
			return true
		}
	}
	return false
}

func describe(dir string) (p Process, err error) {
	if p.PID, err = strconv.Atoi(filepath.Base(dir)); err != nil {
		return p, err
	}
	program, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil {
		return p, err
	}
	// A program that was replaced on the disk is marked as such.
	p.Program = filepath.Base(strings.TrimSuffix(program, " (deleted)"))
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return p, err
	}
	if words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"); len(words) > 1 {
		p.Args = words[1:]
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return p, err
	}
	// The name in parentheses may have anything in it; state and parent follow.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return p, fmt.Errorf("%s/stat is not understood", dir)
	}
	p.Parent, err = strconv.Atoi(fields[1])
	return p, err
}
