// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Keys that a terminal turns into signals for its foreground process group.
const (
	CtrlC         = "\x03"
	CtrlZ         = "\x1a"
	CtrlBackslash = "\x1c"
)

// Terminal is a shell in a terminal of its own. All that it and its children
// write is its standard output.
type Terminal struct {
	*Run
	master *os.File
	// silent is closed when nothing more can be read.
	silent chan struct{}
}

// StartInTerminal runs a script by a shell in a new terminal: "bash -m -c" gives
// each command a process group and the terminal, as at a prompt; "bash -c" keeps
// both to itself and its commands, as in a script. See [EnvCLI].
func (w *Workspace) StartInTerminal(ctx context.Context, tfweaver bool, script string, shell ...string) (*Terminal, error) {
	if len(shell) == 0 {
		shell = []string{"bash", "--norc", "-m", "-c"}
	}
	master, slave, err := openTerminal()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer slave.Close() //nolint:errcheck // the shell has its own
	t := &Terminal{Run: w.script(ctx, tfweaver, append(shell, script)), master: master, silent: make(chan struct{})}
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = slave, slave, slave
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	t.cmd.Cancel = func() error { return t.cmd.Process.Signal(syscall.SIGHUP) }
	t.kill = func() error { return signalGroup(t.cmd.Process.Pid, syscall.SIGKILL) }
	if err := w.of.launch(t.Run); err != nil {
		return nil, errors.Join(err, master.Close())
	}
	go func() {
		defer close(t.silent)
		_, _ = io.Copy(&t.stdout, master) // it ends with EIO when nobody has it open
	}()
	return t, nil
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := unlock(master)
	if err == nil {
		slave, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	return master, slave, nil
}

// unlock makes the other side of a terminal usable, and returns its number.
func unlock(master *os.File) (number int, err error) {
	connection, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := connection.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	return number, errors.Join(outer, err)
}

// Type types on the terminal.
func (t *Terminal) Type(keys string) error {
	if _, err := io.WriteString(t.master, keys); err != nil {
		return fmt.Errorf("%s: type: %w", t.Name, err)
	}
	return nil
}

// HangUp closes the terminal, as closing its window does.
func (t *Terminal) HangUp() error { return t.master.Close() }

// WaitSilent waits for the end of the shell, and a moment for the last of what was
// written.
func (t *Terminal) WaitSilent() error {
	err := t.Wait()
	select {
	case <-t.silent:
	case <-time.After(time.Second):
	}
	return err
}
