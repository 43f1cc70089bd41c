// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// currentName is the file in the journal's folder that says who leads.
const currentName = "current"

// Leader is who leads the journal in a folder, as that process published it. It
// may have died since.
type Leader struct {
	// Address is a unix:// or tcp:// address.
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Epoch   uint64 `json:"epoch"`
}

// ReadLeader reads who leads the journal in dir; ok is false when nobody has
// said so.
func ReadLeader(dir string) (l Leader, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return l, false, nil
	}
	if err != nil {
		return l, false, fmt.Errorf("find the coordinator: %w", err)
	}
	if err := json.Unmarshal(data, &l); err != nil || l.Address == "" {
		// It is only a hint; the next leader writes it anew.
		return Leader{}, false, nil
	}
	return l, true, nil
}

// publish says that l leads. Readers see the old file or the new one.
func publish(dir string, l Leader) error {
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", err)
	}
	f, err := os.CreateTemp(dir, currentName+".*")
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, currentName))
	}
	if err != nil {
		return fmt.Errorf("publish the coordinator's address: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// unpublish takes back what publish said of own, unless it was replaced since. It
// is called while the journal is still held, so nobody else publishes meanwhile.
// More than the epoch counts: where a copy was put in the journal's place, a
// successor may have the same one.
func unpublish(dir string, own Leader) {
	if l, ok, err := ReadLeader(dir); err == nil && ok && l == own {
		_ = os.Remove(filepath.Join(dir, currentName))
	}
}

// InUseError: another process leads the journal in a folder.
type InUseError struct {
	Dir string
	// Leader is that process, as far as it has said who it is.
	Leader Leader
	// Err is journal.ErrInUse.
	Err error
}

// Error names the folder and its leader.
func (e *InUseError) Error() string {
	who := "another process"
	if e.Leader.PID != 0 {
		who = fmt.Sprintf("process %d at %s", e.Leader.PID, e.Leader.Address)
	}
	return fmt.Sprintf("the journal in %s is led by %s: one process at a time leads a journal, so use that one, end it, or name another folder", e.Dir, who)
}

// Unwrap is journal.ErrInUse.
func (e *InUseError) Unwrap() error { return e.Err }

// inUse says who leads where the journal could not be led for that reason.
func inUse(dir string, err error) error {
	if !errors.Is(err, journal.ErrInUse) {
		return err
	}
	l, _, _ := ReadLeader(dir) // the error is clear without it
	return &InUseError{Dir: dir, Leader: l, Err: journal.ErrInUse}
}
