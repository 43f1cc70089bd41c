// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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

	// fileSystem and within are server.SystemFileSystem and startWithin but in
	// tests.
	fileSystem server.FileSystem
	within     time.Duration
}

// DefaultDir is the state folder of this user: tfweaver in XDG_STATE_HOME, or
// in .local/state of the home that the system's user database has for the
// user; in the local application data on Windows. HOME counts only where the
// database knows no home that can be used: jobs of one user on one machine with
// homes of their own share the cloud, and so the coordinator.
func DefaultDir() (string, error) {
	if dir := os.Getenv(stateVariable); filepath.IsAbs(dir) {
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
	if o.fileSystem == nil {
		o.fileSystem = server.SystemFileSystem
	}
	if o.within == 0 {
		o.within = startWithin
	}
	return o, nil
}

// socket is where the leader of an epoch listens. The process is part of the
// name, as an epoch may come twice where an older journal was put back. The path
// is as short as may be: the system allows about a hundred bytes.
func (o Options) socket(epoch uint64) string {
	return filepath.Join(o.runtime(), o.prefix()+strconv.FormatUint(epoch, 10)+"-"+strconv.Itoa(os.Getpid())+".sock")
}

// prefix begins the names of the sockets that belong to the state folder.
func (o Options) prefix() string {
	sum := sha256.Sum256([]byte(o.Dir))
	return hex.EncodeToString(sum[:4]) + "-"
}

// runtime is the folder of the sockets. Where XDG_RUNTIME_DIR is too long for
// one, it is a folder of this user among the temporary files.
func (o Options) runtime() string {
	if o.Runtime != "" {
		return o.Runtime
	}
	if dir := os.Getenv(runtimeVariable); filepath.IsAbs(dir) {
		if dir = filepath.Join(dir, "tfweaver"); o.fits(dir) {
			return dir
		}
	}
	return filepath.Join(tempDir(), "tfweaver-"+userID())
}

// fits says whether a folder leaves room for the sockets of all leaders to
// come.
func (o Options) fits(dir string) bool {
	return len(filepath.Join(dir, o.prefix()))+len("012345678-4194304.sock") <= server.MaxSocketPath
}

// Variables that name the folders.
const (
	stateVariable   = "XDG_STATE_HOME"
	runtimeVariable = "XDG_RUNTIME_DIR"
)

// prepare makes the folders, and refuses what others could tamper with.
func (o Options) prepare() error {
	if dir := o.runtime(); !o.fits(dir) {
		return &StartError{
			Reason: fmt.Sprintf("the path of the sockets' folder %s is too long for sockets: set %s to a shorter one", dir, runtimeVariable),
		}
	}
	if err := o.onNetwork(); err != nil {
		return err
	}
	if err := prepare("the state folder", o.Dir, stateVariable); err != nil {
		return err
	}
	return prepare("the sockets' folder", o.runtime(), runtimeVariable)
}

// prepare makes a folder. The variable says where people can have it instead.
func prepare(what, dir, variable string) error {
	remedy := fmt.Sprintf("set %s to a folder of your own", variable)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &StartError{Reason: fmt.Sprintf("%s cannot be made: %v: %s", what, err, remedy), Err: err}
	}
	err := server.CheckFolder(dir)
	var folder *server.FolderError
	if errors.As(err, &folder) && folder.Closable {
		remedy = fmt.Sprintf("run `chmod 700 %s`, or %s", dir, remedy)
	}
	if err == nil {
		if err = writable(dir); err == nil {
			return nil
		}
	}
	return &StartError{Reason: fmt.Sprintf("%s %v: %s", what, err, remedy), Err: err}
}

// writable makes sure that this process may make files in a folder.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".probe")
	if err != nil {
		return &server.FolderError{Dir: dir, Reason: "cannot be written by you (" + systemReason(err) + ")"}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// systemReason is what the operating system says, without the path.
func systemReason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func (o Options) path(name string) string { return filepath.Join(o.Dir, name) }
