// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

const (
	// lockName is held by the process that starts a coordinator.
	lockName = "start.lock"
	// logName is where a started coordinator writes.
	logName = "serve.log"
	// maxLog is from which size on the log is put aside.
	maxLog = 4 << 20
)

// start starts a coordinator, unless one has appeared, and waits until it can
// be reached. The lock file is held.
func (o Options) start(ctx context.Context) (net.Conn, error) {
	if conn, err := o.find(ctx); err == nil {
		return conn, nil
	}
	pid, ended, err := o.launch()
	if err != nil {
		return nil, &StartError{Reason: err.Error(), Err: err}
	}
	for {
		conn, err := o.find(ctx)
		if err == nil {
			return conn, nil
		}
		select {
		case err := <-ended:
			return o.afterEnd(ctx, pid, err)
		default:
		}
		if err := pause(ctx, poll); err != nil {
			return nil, o.silent("the one that was started (process "+strconv.Itoa(pid)+") does not answer", err)
		}
	}
}

// launch starts the program with its log.
func (o Options) launch() (pid int, ended <-chan error, err error) {
	if err := o.forget(); err != nil {
		return 0, nil, err
	}
	log, err := openLog(o.path(logName))
	if err != nil {
		return 0, nil, err
	}
	defer log.Close()
	return o.spawn(log)
}

// afterEnd is called when the started coordinator has ended. That is no error
// when another one has appeared. The error is errLeft when it did not say why. On a
// full disk it could not, neither for this process nor in its log.
func (o Options) afterEnd(ctx context.Context, pid int, err error) (net.Conn, error) {
	if conn, findErr := o.find(ctx); findErr == nil {
		return conn, nil
	}
	if reason, ok := o.confession(pid); ok {
		return nil, &StartError{Reason: reason, Err: err}
	}
	if full := o.noRoom(); full != nil {
		return nil, full
	}
	how := errLeft
	if err != nil {
		how = err
	}
	return nil, o.silent(fmt.Sprintf("%s ended without a word (%v)", o.Executable, how), errors.Join(errLeft, err))
}

// silent is a failure of which only the log may tell more.
func (o Options) silent(reason string, err error) error {
	return &StartError{Reason: reason + "; see its log " + o.path(logName), Err: err}
}

// spawn starts the program detached from this one. The channel gets the error
// with which it ends, should it end before this process.
func (o Options) spawn(log *os.File) (int, <-chan error, error) {
	cmd := exec.Command(o.Executable, o.Args...) //nolint:gosec // the program itself, or what the caller names
	cmd.Dir = o.Dir                              // holds no other folder in use
	cmd.Env = keep(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return cmd.Process.Pid, ended, nil
}

// keep is the part of the environment that the coordinator needs. It outlives
// the run that starts it, so it must not hold that run's credentials.
func keep(environ []string) []string {
	kept := []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TMP", "TEMP",
		"XDG_STATE_HOME", "XDG_RUNTIME_DIR", "GOCOVERDIR",
		"SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA",
	}
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains(kept, strings.ToUpper(name))
	})
}

// openLog opens the coordinator's log for appending.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
}
