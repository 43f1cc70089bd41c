// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfweaver/tfweaver/internal/coordinator"
)

// maxHandles bounds the file descriptors held for processes; the others are
// looked at from time to time.
const maxHandles = 512

// alarm wakes its owner when a process ends or when it is rung. Only ring may
// be called by others, and not once it is closed.
type alarm struct {
	bell    int // eventfd
	handles map[coordinator.Process]int
}

func newAlarm() (*alarm, error) {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &alarm{bell: bell, handles: map[coordinator.Process]int{}}, nil
}

// watch takes a handle on a process, and says whether its end will wake the
// owner. The process has to be looked at after watch, not before: then the
// handle cannot be of a later one with the same number.
func (a *alarm) watch(p coordinator.Process) bool {
	if _, ok := a.handles[p]; ok {
		return true
	}
	if len(a.handles) >= maxHandles {
		return false
	}
	fd, err := unix.PidfdOpen(p.PID, 0) // close-on-exec by itself
	if err != nil {
		return false
	}
	a.handles[p] = fd
	return true
}

// forget gives the handle on a process back.
func (a *alarm) forget(p coordinator.Process) {
	if fd, ok := a.handles[p]; ok {
		unix.Close(fd)
		delete(a.handles, p)
	}
}

// ring wakes the owner.
func (a *alarm) ring() {
	_, _ = unix.Write(a.bell, binary.NativeEndian.AppendUint64(nil, 1)) // full is rung, too
}

// wait sleeps until a process ends, the alarm is rung, or some time has passed.
// It returns the processes with a handle that have ended.
func (a *alarm) wait(most time.Duration) []coordinator.Process {
	fds := []unix.PollFd{{Fd: int32(a.bell), Events: unix.POLLIN}}
	order := make([]coordinator.Process, 0, len(a.handles))
	for p, fd := range a.handles {
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		order = append(order, p)
	}
	if _, err := unix.Poll(fds, int(max(1, most.Milliseconds()))); err != nil {
		if !errors.Is(err, unix.EINTR) {
			time.Sleep(most) // cannot happen with valid descriptors; do not spin
		}
		return nil
	}
	var ended []coordinator.Process
	if fds[0].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(a.bell, count[:])
	}
	for i, p := range order {
		if fds[i+1].Revents != 0 {
			ended = append(ended, p)
		}
	}
	return ended
}

func (a *alarm) close() {
	for p := range a.handles {
		a.forget(p)
	}
	unix.Close(a.bell)
}
