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

// Signals are the signals that tfweaver takes and hands on. A hangup that is
// ignored stays ignored, as nohup means it; an interrupt does not, because the
// CLI takes that one in any case.
func Signals() []os.Signal {
	signals := []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGQUIT}
	if !signal.Ignored(unix.SIGHUP) {
		signals = append(signals, unix.SIGHUP)
	}
	return signals
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
	// hungUp gets a value when the terminal is gone. It is nil for a CLI that
	// the terminal does not signal.
	hungUp chan struct{}
	// asleep gets Ctrl-Z for a CLI that the terminal does not signal.
	asleep chan os.Signal
	// told is set once a hangup was handed on.
	told bool
	// over is closed by wait.
	over chan struct{}
}

// start starts the CLI. listen registers for tfweaver's own signals again: those
// of a terminal that is closed are switched off for a moment.
func start(cmd *exec.Cmd, listen func()) (*job, error) {
	j := &job{cmd: cmd, over: make(chan struct{})}
	j.place, j.tty = placeFor(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	switch j.place {
	case apart:
		cmd.SysProcAttr.Setpgid = true
	case front:
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(j.tty.Fd())
	case together:
	}
	if err := j.launch(listen); err != nil {
		j.close()
		return nil, err
	}
	if listen != nil { // else it is a question beside the run
		j.follow()
	}
	return j, nil
}

// follow looks for what the terminal tells one of the two and not the other.
func (j *job) follow() {
	switch {
	case j.place != apart:
		j.hungUp = make(chan struct{}, 1)
		go j.watch()
	case j.cmd.Stdin != nil && !signal.Ignored(unix.SIGTSTP):
		// It cannot be undone: Go swallows a stop that nobody asks for any more. So
		// this is not done for a question beside the run.
		j.asleep = make(chan os.Signal, 1)
		signal.Notify(j.asleep, unix.SIGTSTP)
	}
}

// launch starts the process. Where the terminal would signal it, the CLI is made
// to ignore hangups, which would end it with its state locked; tfweaver sees them
// too and asks it to stop instead.
func (j *job) launch(listen func()) error {
	if j.place == apart || listen == nil || signal.Ignored(unix.SIGHUP) {
		return j.cmd.Start()
	}
	signal.Ignore(unix.SIGHUP)
	defer listen()
	return j.cmd.Start()
}

func (j *job) close() {
	close(j.over)
	if j.asleep != nil {
		signal.Stop(j.asleep)
	}
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
	case unix.SIGINT, unix.SIGQUIT:
		if j.place == together && owns(j.tty, unix.Getpgrp()) {
			return // it came from the terminal and reached the CLI as well
		}
	case unix.SIGHUP:
		// The CLI would die of it and leave its state lock behind. A terminal that
		// is closed tells it in several ways; two requests would end the CLI at once.
		if j.told {
			return
		}
		j.told, sig = true, unix.SIGTERM
	}
	_ = j.cmd.Process.Signal(sig)
}

// stop asks the CLI to stop.
func (j *job) stop() { _ = j.cmd.Process.Signal(unix.SIGINT) }

// wait returns the exit code once the CLI has ended.
func (j *job) wait() (int, error) {
	defer j.close()
	if j.place != front {
		return exitCode(j.cmd.Wait(), j.cmd.ProcessState)
	}
	defer j.takeBack()
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

// killedCode is the exit code that shells use for a process that a signal
// ended.
func killedCode(exit *os.ProcessState) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return 1
}

// Exec replaces tfweaver by the CLI. It returns only on an error.
func Exec(path string, args, env []string) (int, error) {
	return 0, syscall.Exec(path, append([]string{path}, args...), env)
}
