// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
)

const (
	// lockName is held by the process that starts a coordinator.
	lockName = "start.lock"
	// logName is where a started coordinator writes.
	logName = "serve.log"
	// maxLog is from which size on the log is put aside.
	maxLog = 4 << 20
	// maxTail is how much of the log stands in an error.
	maxTail = 600
)

// start starts a coordinator, unless one has appeared, and waits until it can
// be reached. The lock file is held.
func (o Options) start(ctx context.Context) (net.Conn, error) {
	if conn, err := o.find(ctx); err == nil {
		return conn, nil
	}
	log, err := openLog(o.path(logName))
	if err != nil {
		return nil, fmt.Errorf("start a coordinator: %w", err)
	}
	defer log.Close()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("start a coordinator: %w", err)
	}
	ended, err := o.spawn(log)
	if err != nil {
		return nil, fmt.Errorf("start a coordinator: %w", err)
	}
	for {
		conn, err := o.find(ctx)
		if err == nil {
			return conn, nil
		}
		select {
		case err := <-ended:
			return o.afterEnd(ctx, begin, err)
		default:
		}
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("%w: the one that was started does not answer%s: %w", client.ErrUnreachable, o.said(begin), err)
		}
	}
}

// afterEnd is called when the started coordinator has ended. That is no error
// when another one has appeared.
func (o Options) afterEnd(ctx context.Context, begin int64, err error) (net.Conn, error) {
	if conn, findErr := o.find(ctx); findErr == nil {
		return conn, nil
	}
	if err == nil {
		err = errLeft
	}
	return nil, fmt.Errorf("%w: %s %s did not stay (%w)%s", client.ErrUnreachable, o.Executable, strings.Join(o.Args, " "), err, o.said(begin))
}

// spawn starts the program detached from this one. The channel gets the error
// with which it ends, should it end before this process.
func (o Options) spawn(log *os.File) (<-chan error, error) {
	cmd := exec.Command(o.Executable, o.Args...) //nolint:gosec // the program itself, or what the caller names
	cmd.Dir = o.Dir                              // holds no other folder in use
	cmd.Env = keep(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
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

// said is what the coordinator has logged since begin, for an error.
func (o Options) said(begin int64) string {
	path := o.path(logName)
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.Seek(begin, io.SeekStart); err != nil {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLog))
	if err != nil {
		return ""
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "; see " + path
	}
	if len(data) > maxTail {
		data = data[len(data)-maxTail:]
	}
	return "; it said: " + string(data)
}
