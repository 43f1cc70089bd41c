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
	sleep(unix.SIGTSTP, unix.SIGSTOP) // the shell shows which one it was
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
	sleep(unix.SIGSTOP) // the other one is taken
	_ = unix.Kill(-child, unix.SIGCONT)
}

// sleepStart is how long the kernel may take to stop this process.
const sleepStart = 200 * time.Millisecond

// sleep stops this process by the first of some signals that does so, and returns
// when somebody continues it. It does not stop where nobody could: the kernel keeps
// Ctrl-Z from the group of a session's leader too.
func sleep(signals ...unix.Signal) {
	if session, err := unix.Getsid(0); err != nil || session == unix.Getpgrp() {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	for _, sig := range signals {
		_ = unix.Kill(unix.Getpid(), sig)
		select {
		case <-continued:
			return
		case <-time.After(sleepStart):
		}
		select { // the time passes while it is stopped, too
		case <-continued:
			return
		case <-time.After(sleepStart):
		}
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
