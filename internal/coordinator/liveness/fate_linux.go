// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

func place(p coordinator.Process) (placed coordinator.Process, foreign bool) {
	where, err := here()
	if err != nil {
		return coordinator.Process{PID: p.PID}, false
	}
	at := strings.LastIndexByte(p.Started, '/')
	if _, bad := strconv.ParseUint(p.Started[at+1:], 10, 64); bad != nil {
		return coordinator.Process{PID: p.PID}, false
	}
	switch {
	case at < 0:
		p.Started = where + "/" + p.Started
		return p, false
	case p.Started[:at] != where:
		return coordinator.Process{PID: p.PID}, true
	default:
		return p, false
	}
}

func identify(pid int) (coordinator.Process, error) {
	p := coordinator.Process{PID: pid}
	where, err := here()
	if err != nil {
		return p, err
	}
	st, err := readStat(pid)
	if err != nil {
		return p, err
	}
	if st.ended() {
		return p, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	p.Started = where + "/" + st.started
	return p, nil
}

func look(p coordinator.Process) Fate {
	was := strings.Split(p.Started, "/")
	where, err := here()
	if err != nil || len(was) != 3 || p.PID <= 0 {
		return Unknown
	}
	boot, space, _ := strings.Cut(where, "/")
	switch {
	case was[0] != boot:
		return Dead // the machine was started anew since
	case was[1] != space:
		return Unknown
	}
	st, err := readStat(p.PID)
	switch {
	case errors.Is(err, ErrNoProcess):
		return Dead
	case err != nil:
		return Unknown
	case st.started != was[2] || st.ended():
		return Dead
	default:
		return Alive
	}
}

func sameNumbers(pid int) bool {
	mine, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	return err == nil && mine == theirs
}

// here names this boot of the machine and this process's name space of process
// numbers. Both stay for the life of the process.
var here = sync.OnceValues(func() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	space, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	space = strings.TrimSuffix(strings.TrimPrefix(space, "pid:["), "]")
	return strings.TrimSpace(string(boot)) + "/" + space, nil
})

// stat is what /proc/PID/stat says, as far as it is needed.
type stat struct {
	state   byte
	threads int
	started string
}

// ended says that nothing of the process runs any more, though its parent has
// not taken note of it. The first thread may end before the others.
func (s stat) ended() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

// Fields of proc_pid_stat(5), counted from the state, which is the third.
const (
	fieldState   = 0
	fieldThreads = 20 - 3
	fieldStarted = 22 - 3
)

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return stat{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil {
		return stat{}, fmt.Errorf("process %d: %w", pid, err)
	}
	// The name of the program is in parentheses and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) <= fieldStarted {
		return stat{}, fmt.Errorf("process %d: cannot read its state: %w", pid, ErrUnsupported)
	}
	threads, err := strconv.Atoi(string(fields[fieldThreads]))
	if err != nil {
		return stat{}, fmt.Errorf("process %d: cannot read its state: %w", pid, err)
	}
	return stat{state: fields[fieldState][0], threads: threads, started: string(fields[fieldStarted])}, nil
}
