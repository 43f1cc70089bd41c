// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach gives the program a session of its own: neither the terminal's
// signals nor its end reach it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A nil entry is a descriptor that is closed.
	cmd.ExtraFiles = make([]*os.File, inherited())
}

// inherited is how many descriptors after the three of every process reach up to
// the last one that this process was given by whoever started it. The program
// must not hold them for as long as it lives: whoever reads the other side of a
// pipe, such as a make or a command substitution, would wait for its end.
func inherited() (count int) {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		// What this process opens itself is closed in its children.
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			count = max(count, fd-2)
		}
	}
	return min(count, mostClosed())
}

// mostClosed bounds how many descriptors can be closed in a child: while it is
// being started it needs as many more, of those that this process may have.
func mostClosed() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur/4, 1024)) //nolint:gosec // small
}

// tryLock takes the lock on a file, which is made when it is missing. The
// lock goes with the process. ok is false when another process has it.
func tryLock(path string) (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, true, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, err
}
