// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// failureName is the file in which a coordinator that could not start says
// why, for the process that started it.
const failureName = "failure"

// maxFailure bounds in bytes what is read of that file.
const maxFailure = 16 << 10

// StartError: the coordinator of this user cannot be started.
type StartError struct {
	// Reason is one clause that says why, with the remedy.
	Reason string
	// Err is the cause where it is known in this process; it may be nil.
	Err error
}

// Error says what cannot be done and why.
func (e *StartError) Error() string {
	return "the coordinator of this machine cannot be started: " + e.Reason
}

// Unwrap is the cause.
func (e *StartError) Unwrap() error { return e.Err }

// unanswered is a coordinator that takes connections and says nothing, as one
// does that was stopped by a signal. Nobody may take its place: it would go on
// deciding once it is continued.
func (o Options) unanswered(err error) error {
	l, ok, readErr := server.ReadLeader(o.Dir)
	if !ok || readErr != nil {
		return o.silent("one was found that does not answer", err)
	}
	return o.silent(fmt.Sprintf("the one that runs (process %d, tfweaver %s) does not answer; if it was stopped, continue it with `kill -CONT %d`, or end it with `kill -KILL %d` and the next run starts another",
		l.PID, l.Version, l.PID, l.PID), err)
}

// misunderstood is a coordinator of another version that serves this user
// already.
func (o Options) misunderstood(err error) error {
	l, ok, readErr := server.ReadLeader(o.Dir)
	if !ok || readErr != nil {
		return &StartError{Reason: err.Error(), Err: err}
	}
	return &StartError{
		Reason: fmt.Sprintf("%v; the one that runs (process %d) ends by itself when nobody uses it any more, or end it with `kill %d` once no run is under way", err, l.PID, l.PID),
		Err:    err,
	}
}

// least is what a coordinator that starts writes for sure, in bytes: the journal's
// first pages, and where it listens.
const least = 128 << 10

// noRoom says that the state folder takes no such files; nil when it does.
func (o Options) noRoom() error {
	f, err := os.CreateTemp(o.Dir, ".probe")
	if err == nil {
		_, err = f.Write(make([]byte, least))
		err = errors.Join(err, f.Close())
		_ = os.Remove(f.Name())
	}
	if err == nil {
		return nil
	}
	return &StartError{
		Reason: fmt.Sprintf("it cannot write to the state folder %s (%s): free some space there, or set %s to a folder of your own", o.Dir, systemReason(err), stateVariable),
		Err:    err,
	}
}

// failure is the content of the file.
type failure struct {
	PID    int    `json:"pid"`
	Reason string `json:"reason"`
}

// confess writes down why this process cannot serve.
func (o Options) confess(err error) {
	var start *StartError
	reason := err.Error()
	if errors.As(err, &start) {
		reason = start.Reason
	}
	data, err := json.Marshal(failure{PID: os.Getpid(), Reason: reason})
	if err == nil {
		err = os.WriteFile(o.path(failureName), data, 0o600)
	}
	if err != nil {
		o.Logger.Warn("cannot write down why it does not start", "error", err)
	}
}

// forget removes what an earlier process wrote down.
func (o Options) forget() error {
	err := os.Remove(o.path(failureName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// confession is why the process with an id could not serve, if it has written
// that down.
func (o Options) confession(pid int) (reason string, ok bool) {
	info, err := os.Stat(o.path(failureName))
	if err != nil || info.Size() > maxFailure {
		return "", false
	}
	data, err := os.ReadFile(o.path(failureName))
	if err != nil {
		return "", false
	}
	var f failure
	if err := json.Unmarshal(data, &f); err != nil || f.PID != pid || f.Reason == "" {
		return "", false
	}
	return f.Reason, true
}
