// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Room is how many bytes there must be for the files of a run: a saved plan has
// some thousand bytes for each resource.
const Room = 1 << 20

// PlaceError: a folder of temporary files cannot be used.
type PlaceError struct {
	// Dir is the folder that the private one is made in.
	Dir string
	// Err is what the operating system says, such as ENOSPC.
	Err error
}

// Error names the folder and the reason.
func (e *PlaceError) Error() string {
	return fmt.Sprintf("no temporary files can be written in %s: %v", e.Dir, reason(e.Err))
}

// Unwrap is the reason.
func (e *PlaceError) Unwrap() error { return e.Err }

// reason is what the operating system says, without the path: the names of files
// that never were tell nobody anything.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// CheckRoom makes sure that there is [Room] in a private folder: it writes as much,
// and removes it. What file systems say of their free space knows nothing of quotas.
// The error is a *PlaceError.
func CheckRoom(private string) error {
	if err := probe(private); err != nil {
		return &PlaceError{Dir: filepath.Dir(private), Err: err}
	}
	return nil
}

func probe(dir string) (err error) {
	file, err := os.CreateTemp(dir, "room-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(make([]byte, Room))
	return errors.Join(err, file.Close()) // some say only at the end that nothing was kept
}
