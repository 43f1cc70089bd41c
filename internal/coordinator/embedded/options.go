// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// DefaultIdleExit is how long a coordinator stays when nobody is there
// and no lock is held.
const DefaultIdleExit = time.Minute

const (
	// startWithin bounds finding or starting a coordinator.
	startWithin = 30 * time.Second
	// leadWithin is how long a started coordinator waits for its predecessor
	// to let go of the journal.
	leadWithin = 15 * time.Second
)

// Options say where the coordinator of this user is and how to start it. The
// zero value is that of the user.
type Options struct {
	// Dir is the state folder; empty for DefaultDir.
	Dir string
	// Runtime is the folder of the sockets; empty for one of this user that
	// is gone after a restart of the machine.
	Runtime string
	// Executable and Args are the command to start; by default this program
	// with the arguments "serve --embedded --dir=DIR --idle-exit=DURATION".
	Executable string
	Args       []string
	// IdleExit is DefaultIdleExit when it is 0.
	IdleExit time.Duration
	// Version is the program's.
	Version string
	// Logger is that of Serve; nil discards.
	Logger *slog.Logger
}

// DefaultDir is the state folder of this user: tfweaver in XDG_STATE_HOME, or
// in ~/.local/state; in the local application data on Windows.
func DefaultDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tfweaver"), nil
	}
	return defaultDir()
}

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	var err error
	if o.Dir == "" {
		if o.Dir, err = DefaultDir(); err != nil {
			return o, fmt.Errorf("find the state folder: %w; set XDG_STATE_HOME", err)
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, fmt.Errorf("find the state folder: %w", err)
	}
	if o.IdleExit == 0 {
		o.IdleExit = DefaultIdleExit
	}
	if o.Executable == "" {
		if o.Executable, err = os.Executable(); err != nil {
			return o, fmt.Errorf("find this program: %w", err)
		}
	}
	if o.Args == nil {
		o.Args = []string{"serve", "--embedded", "--dir=" + o.Dir, "--idle-exit=" + o.IdleExit.String()}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// socket is where the leader of an epoch listens. The path is as short as may
// be: the system allows about a hundred bytes.
func (o Options) socket(epoch uint64) string {
	return filepath.Join(o.runtime(), o.prefix()+strconv.FormatUint(epoch, 10)+".sock")
}

// prefix begins the names of the sockets that belong to the state folder.
func (o Options) prefix() string {
	sum := sha256.Sum256([]byte(o.Dir))
	return hex.EncodeToString(sum[:4]) + "-"
}

func (o Options) runtime() string {
	if o.Runtime != "" {
		return o.Runtime
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tfweaver")
	}
	return filepath.Join(tempDir(), "tfweaver-"+userID())
}

// prepare makes the folders, and refuses what others could tamper with.
func (o Options) prepare() error {
	for _, dir := range []string{o.Dir, o.runtime()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of the coordinator: %w", err)
		}
		if err := server.CheckFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) path(name string) string { return filepath.Join(o.Dir, name) }
