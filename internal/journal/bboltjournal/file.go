// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/tfweaver/tfweaver/internal/journal"
)

// lockWait is how long one attempt waits for the file's lock before it looks
// at the context again. bbolt itself tries every 50 ms.
const lockWait = 60 * time.Millisecond

var (
	// errEmpty: a file of ours has never been empty under its name.
	errEmpty = fmt.Errorf("%w: it is empty", journal.ErrCorrupt)
	// errMoved: the file that was locked has another name by now.
	errMoved = errors.New("the file was replaced while it was being opened")
	// errGone: the file of a journal that was in use is not there any more.
	errGone = errors.New("it was taken away while it was in use")
)

// waitOpen opens the file as soon as its lock is free. A missing one is made
// if mayCreate is set.
func (j *Journal) waitOpen(ctx context.Context, mayCreate bool) (*bbolt.DB, os.FileInfo, error) {
	for {
		db, info, err := j.openFile()
		switch {
		case err == nil:
			if err := j.settleIn(); err != nil {
				return nil, nil, errors.Join(err, db.Close())
			}
			return db, info, nil
		case errors.Is(err, bbolterrors.ErrTimeout), errors.Is(err, errMoved):
		case errors.Is(err, fs.ErrNotExist) && mayCreate:
			if err := j.create(); err != nil {
				return nil, nil, storageError(j.path, err)
			}
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, fmt.Errorf("%s: %w: %w", j.path, errGone, err)
		default:
			return nil, nil, describe(j.path, err)
		}
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("%s: %w", j.path, journal.ErrInUse)
		}
	}
}

// settleIn is called with the lock newly taken.
func (j *Journal) settleIn() error {
	if err := j.reach(stepLeading); err != nil {
		return err
	}
	j.sweep()
	return j.reach(stepSwept)
}

// openFile makes sure that the file is whole and understood, without a way to
// write to it, and then opens it for writing.
func (j *Journal) openFile() (*bbolt.DB, os.FileInfo, error) {
	db, file, err := openBolt(j.path, true)
	if err != nil {
		return nil, nil, err
	}
	err = guarded(j.path, func() error { return verify(db, file) })
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, nil, err
	}
	// Between the two somebody else may have led; they looked at it, too, but
	// may be of a newer version.
	if db, file, err = openBolt(j.path, false); err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = guarded(j.path, func() error { return db.View(checkLayout) })
	}
	if err == nil {
		err = samePlace(j.path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, info, nil
}

func samePlace(path string, info os.FileInfo) error {
	now, err := os.Stat(path)
	if err == nil && !os.SameFile(now, info) {
		err = errMoved
	}
	return err
}

// openBolt opens an existing file of some content.
func openBolt(path string, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	err = guarded(path, func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:      lockWait,
			ReadOnly:     readOnly,
			FreelistType: bbolt.FreelistMapType,
			OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
				file, err = openWithContent(name, flag&^os.O_CREATE, perm)
				return file, err
			},
		})
		return err
	})
	if err != nil && file != nil {
		file.Close() // bbolt does not when it panics; the lock goes with it
	}
	return db, file, err
}

func openWithContent(name string, flag int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = usable(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// usable refuses what cannot be a journal of this user.
func usable(path string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is no regular file", journal.ErrCorrupt)
	case info.Size() == 0:
		return errEmpty
	}
	return storageError(path, checkFile(info))
}

// guarded turns a panic over a damaged file, and the fault of a mapped page
// that the file does not have, into a DamageError.
func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &DamageError{Path: path, Err: unreadable(r)}
		}
	}()
	return f()
}

// errUnreadable: the file's structure leads nowhere.
var errUnreadable = errors.New("a part of it cannot be read")

// unreadable is what a panic means. What the run time says of a fault tells
// people nothing.
func unreadable(panicked any) error {
	if _, ok := panicked.(runtime.Error); ok {
		return errUnreadable
	}
	return fmt.Errorf("%w: %v", errUnreadable, panicked)
}
