// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// prefix begins the names of the folders; a number follows. It must not begin
// the name of anything else among the temporary files: the coordinators' sockets
// are in tfweaver-USER.
const prefix = "tfweaver-run-"

// attempts is how often a folder is made anew when another process took it for
// a dead one's between its making and its being held: rarely once, but a fleet of
// runs may start in the same moment.
const attempts = 100

// errTaken: another process holds the folder or has removed it.
var errTaken = errors.New("another process has taken it")

// Folder is a folder that only this user can enter, until [Folder.Remove] or the
// death of this process.
type Folder struct {
	path string
	// held keeps others from removing the folder; nil where the file system
	// knows no locks, and nobody can find the folder abandoned.
	held   *os.File
	remove sync.Once
	err    error
}

// ForFiles makes a folder among the temporary files of the user (TMPDIR), for
// files of any size. First it removes those whose owners are dead. The error is a
// *PlaceError where nothing can be written, also because there is no [Room]: a plan
// that cannot be saved is better not made.
func ForFiles() (*Folder, error) {
	f, err := open(os.TempDir())
	if err != nil {
		return nil, err
	}
	if err := CheckRoom(f.path); err != nil {
		_ = f.Remove()
		return nil, err
	}
	return f, nil
}

// ForSockets is ForFiles but for the place: the path is short enough for unix
// sockets, those of providers and their proxies included, whatever TMPDIR is.
func ForSockets() (*Folder, error) {
	short := shortTemp()
	if temp := os.TempDir(); temp != short {
		sweep(temp) // files that killed runs left there hold secrets
	}
	return open(short)
}

func open(parent string) (*Folder, error) {
	sweep(parent)
	for range attempts {
		f, err := own(parent)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errTaken) {
			return nil, &PlaceError{Dir: parent, Err: err}
		}
	}
	return nil, fmt.Errorf("make a private folder in %s: %w", parent, errTaken)
}

// own makes a folder and holds it.
func own(parent string) (*Folder, error) {
	path, err := os.MkdirTemp(parent, prefix) // for its owner only
	if err != nil {
		return nil, err
	}
	held, err := hold(path)
	if err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	return &Folder{path: path, held: held}, nil
}

// Path is the absolute path of the folder.
func (f *Folder) Path() string { return f.path }

// Remove removes the folder with all that is in it. Further calls return the
// result of the first.
func (f *Folder) Remove() error {
	f.remove.Do(func() {
		if f.held != nil {
			_ = f.held.Close() // Windows removes no open file
		}
		if err := os.RemoveAll(f.path); err != nil {
			f.err = fmt.Errorf("remove a private folder: %w", err)
		}
	})
	return f.err
}
