// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

const (
	// temporaryMark begins, behind the file's name, the names of files that
	// are not the journal yet.
	temporaryMark = ".new-"
	// room is how many bytes must fit onto the disk for a journal to go on:
	// the pages of a few commits.
	room = 256 << 10
)

// create makes the file under a temporary name, brings it onto the disk, and
// gives it its name unless there is one by now. A crash leaves no journal or a
// whole one.
func (j *Journal) create() error {
	name, err := j.temporary()
	if err != nil {
		return err
	}
	defer os.Remove(name) // has its own name by then, or is of no use
	if err := j.reach(stepTemporary); err != nil {
		return err
	}
	err = writeNew(name)
	if err == nil {
		err = j.reach(stepLaidOut)
	}
	if err == nil {
		err = moveNew(name, j.path)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else was quicker, and has swept this one away perhaps
	}
	if err != nil {
		return err
	}
	if err := j.reach(stepNamed); err != nil {
		return err
	}
	return errors.Join(j.syncFolders(), j.reach(stepFolderSafe))
}

// syncFolders makes the file's name durable, and the folder's.
func (j *Journal) syncFolders() error {
	dir := filepath.Dir(j.path)
	if err := syncFolder(dir); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err // what one may not read one has not made
	}
	return nil
}

// temporary makes an empty file that only this process knows.
func (j *Journal) temporary() (string, error) {
	f, err := os.CreateTemp(filepath.Dir(j.path), FileName+temporaryMark+"*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// writeNew fills an empty file and brings it onto the disk.
func writeNew(name string) error {
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(layOut), db.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// sweep removes temporary files that a crash left. The lock on the journal is
// held, so whoever still works on one finds that there is a journal.
func (j *Journal) sweep() {
	names, err := filepath.Glob(escapeGlob(j.path) + temporaryMark + "*")
	if err != nil {
		return
	}
	for _, name := range names {
		_ = os.Remove(name)
	}
}

// escapeGlob takes their meaning from the characters of a path. Windows knows
// no way to; a pattern that fits nothing sweeps nothing.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	var escaped []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			escaped = append(escaped, '\\')
		}
		escaped = append(escaped, path[i])
	}
	return string(escaped)
}

// probe makes sure that there is room to go on, as Lead itself writes nothing
// to the file.
func (j *Journal) probe() error {
	name, err := j.temporary()
	if err != nil {
		return storageError(j.path, err)
	}
	defer os.Remove(name)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return storageError(j.path, err)
	}
	_, err = f.Write(make([]byte, room))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return storageError(j.path, err)
	}
	return nil
}
