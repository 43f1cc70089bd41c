// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// hangupLook is how often it is looked whether the terminal is still there. A
// terminal that is closed signals its foreground group, which is that of the CLI
// alone, and the leader of the session, which need not tell anybody.
const hangupLook = 200 * time.Millisecond

// watch waits until the terminal is gone or the CLI has ended.
func (j *job) watch() {
	tick := time.NewTicker(hangupLook)
	defer tick.Stop()
	for {
		select {
		case <-j.over:
			return
		case <-tick.C:
			if gone(j.tty) {
				j.hungUp <- struct{}{}
				return
			}
		}
	}
}

// gone says whether a terminal was closed by its other side: nobody can ask it
// any more for its foreground group.
func gone(tty *os.File) bool {
	connection, err := tty.SyscallConn()
	if err != nil {
		return true // closed by ourselves
	}
	hungUp := false
	_ = connection.Control(func(fd uintptr) {
		_, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		hungUp = err == unix.EIO
	})
	return hungUp
}

// suspend stops tfweaver too when Ctrl-Z stopped the CLI, so that the shell
// gets the terminal back, and continues the CLI afterwards.
func (j *job) suspend() {
	own, child := unix.Getpgrp(), j.cmd.Process.Pid
	takeTerminal(j.tty, own)
	sleep()
	if owns(j.tty, own) {
		takeTerminal(j.tty, child)
	}
	_ = unix.Kill(-child, unix.SIGCONT)
}

// sleepWithTheCLI stops a CLI that the terminal does not signal, and tfweaver
// with it, when Ctrl-Z was meant for both.
func (j *job) sleepWithTheCLI() {
	child := j.cmd.Process.Pid
	_ = unix.Kill(-child, unix.SIGTSTP)
	signal.Stop(j.asleep)
	sleep()
	signal.Notify(j.asleep, unix.SIGTSTP)
	_ = unix.Kill(-child, unix.SIGCONT)
}

// sleepStart is how long the kernel may take to stop this process.
const sleepStart = 200 * time.Millisecond

// sleep stops this process as Ctrl-Z does, and returns when somebody continues
// it. A process that nobody could continue does not stop: the kernel keeps
// members of orphaned groups from it.
func sleep() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(unix.Getpid(), unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(sleepStart):
	}
}

// takeBack takes the terminal back from a CLI that has ended. Somebody else's it
// is left alone: a run that ends in the background owns none.
func (j *job) takeBack() {
	if owns(j.tty, j.cmd.Process.Pid) {
		takeTerminal(j.tty, unix.Getpgrp())
	}
}

// takeTerminal makes a group the foreground group. A group in the background
// would be stopped for trying, unless it ignores the signal for that.
func takeTerminal(tty *os.File, group int) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, group)
}
