// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Signals are the signals that tfweaver takes and hands on.
func Signals() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}
}

// KeepBrokenPipes makes writing to a pipe that nobody reads an error, not the
// end of this process: there may be locks to give back first.
func KeepBrokenPipes() { signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) }

// placement is how the CLI stands to the terminal and to tfweaver.
type placement int

const (
	// apart: in a process group of its own, away from the terminal's signals;
	// tfweaver gets them and hands them on.
	apart placement = iota
	// front: in a group of its own that owns the terminal, so that prompts
	// work and the terminal's signals reach the CLI alone.
	front
	// together: in tfweaver's group, because that group is a part of somebody
	// else's pipeline or script that must keep the terminal. The terminal
	// signals both.
	together
)

// job is a running CLI.
type job struct {
	cmd   *exec.Cmd
	place placement
	// tty is the controlling terminal, nil without one.
	tty *os.File
}

func start(cmd *exec.Cmd) (*job, error) {
	j := &job{cmd: cmd}
	j.place, j.tty = placeFor(cmd)
	switch j.place {
	case apart:
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case front:
		cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: int(j.tty.Fd())}
	case together:
	}
	if err := cmd.Start(); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func (j *job) close() {
	if j.tty != nil {
		j.tty.Close()
	}
}

func placeFor(cmd *exec.Cmd) (placement, *os.File) {
	if !isTerminal(cmd.Stdin) {
		return apart, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return apart, nil
	}
	group := unix.Getpgrp()
	switch {
	case !owns(tty, group):
		tty.Close()
		return apart, nil
	case group == unix.Getpid() && isTerminal(cmd.Stdout):
		return front, tty
	default:
		return together, tty
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// owns says whether a process group is the terminal's foreground group.
func owns(tty *os.File, group int) bool {
	front, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && front == group
}

// pass hands a signal on that tfweaver got.
func (j *job) pass(sig os.Signal) {
	switch sig {
	case unix.SIGINT:
		if j.place == together && owns(j.tty, unix.Getpgrp()) {
			return // it came from the terminal and reached the CLI as well
		}
	case unix.SIGHUP:
		// The CLI would die of it and leave its state lock behind.
		sig = unix.SIGTERM
	}
	_ = j.cmd.Process.Signal(sig)
}

// stop asks the CLI to stop.
func (j *job) stop() { _ = j.cmd.Process.Signal(unix.SIGINT) }

// wait returns the exit code once the CLI has ended.
func (j *job) wait() (int, error) {
	defer j.close()
	if j.place != front {
		return exitCode(j.cmd.Wait())
	}
	defer takeTerminal(j.tty, unix.Getpgrp())
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(j.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case status.Stopped():
			j.suspend()
		default:
			// The process is reaped; what is left of Wait is to drain pipes.
			_ = j.cmd.Wait()
			if status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return status.ExitStatus(), nil
		}
	}
}

// suspend stops tfweaver too when Ctrl-Z stopped the CLI, so that the shell
// gets the terminal back, and continues the CLI afterwards.
func (j *job) suspend() {
	own, child := unix.Getpgrp(), j.cmd.Process.Pid
	takeTerminal(j.tty, own)
	_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
	if owns(j.tty, own) {
		takeTerminal(j.tty, child)
	}
	_ = unix.Kill(-child, unix.SIGCONT)
}

// takeTerminal makes a group the foreground group. A group in the background
// would be stopped for trying, unless it ignores the signal for that.
func takeTerminal(tty *os.File, group int) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, group)
}

// killedCode is the exit code that shells use for a process that a signal
// ended.
func killedCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return 1
}

// Exec replaces tfweaver by the CLI. It returns only on an error.
func Exec(path string, args, env []string) (int, error) {
	return 0, syscall.Exec(path, append([]string{path}, args...), env)
}
