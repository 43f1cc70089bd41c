// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// NetworkError is a journal's folder on a file system that other machines
// share. There a lock may mean nothing to the others, and two coordinators would
// lead one journal.
type NetworkError struct {
	// Dir is the folder, Type the kind of file system as the system calls it.
	Dir, Type string
	// Remedy is how people choose another folder.
	Remedy string
}

// Error names the folder, and what people can do.
func (e *NetworkError) Error() string {
	return fmt.Sprintf("the folder %s is on a network file system (%s), on which machines do not reliably see each other's locks: %s",
		e.Dir, e.Type, e.Remedy)
}

// FileSystem says of what type the file system of an existing folder is, and
// whether other machines share it.
type FileSystem func(dir string) (kind string, network bool, err error)

// Local refuses a folder, be it there yet or not, on a file system that other
// machines share, with a NetworkError that has the remedy. A file system that
// cannot be told is taken for a local one.
func (ask FileSystem) Local(dir, remedy string, log *slog.Logger) error {
	at := Existing(dir)
	kind, network, err := ask(at)
	if err != nil {
		log.Warn("cannot tell the file system", "dir", at, "error", err)
		return nil
	}
	if !network {
		return nil
	}
	return &NetworkError{Dir: dir, Type: kind, Remedy: remedy}
}

// Existing is the nearest folder that is there already, its links resolved.
func Existing(dir string) string {
	for {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			return resolved
		}
		if _, err := os.Lstat(dir); err == nil {
			return dir // a link to nowhere
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}
