// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// StorageError is a file or a disk that does not take or give what the journal
// asks for, or a file that is not this user's alone.
// Nothing that was acknowledged is lost by it.
type StorageError struct {
	// Path is the journal's file.
	Path string
	// Err is what the operating system says.
	Err error
}

// Error names the file, what is wrong and the remedy.
func (e *StorageError) Error() string {
	return fmt.Sprintf("%s: the journal cannot be used (%s): %s", e.Path, systemReason(e.Err), e.remedy())
}

// Unwrap is what the operating system says.
func (e *StorageError) Unwrap() error { return e.Err }

func (e *StorageError) remedy() string {
	var exposed *exposedError
	switch {
	case errors.As(e.Err, &exposed):
		return exposed.remedy + ", or use another state folder"
	case isFull(e.Err):
		return "free some space there; nothing that was written before is lost"
	case errors.Is(e.Err, syscall.EROFS):
		return "make that file system writable, or use another state folder"
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("the file and its folder %s must be yours, with modes 0600 and 0700; correct that, or use another state folder", filepath.Dir(e.Path))
	default:
		return "check that disk; nothing that was written before is lost as long as it can be read"
	}
}

// exposedError is a file that is not this user's alone.
type exposedError struct{ reason, remedy string }

func (e *exposedError) Error() string { return e.reason }

// Is makes it an error about permissions.
func (e *exposedError) Is(target error) bool { return target == fs.ErrPermission }

// storageError names the journal's file for an error of the operating system.
func storageError(path string, err error) error {
	if err == nil || named(err) {
		return err
	}
	return &StorageError{Path: path, Err: withNumber(err)}
}

// withNumber gives an error of the system its number back: bbolt reduces some
// to their text.
func withNumber(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return err
	}
	for _, number := range []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO, syscall.EACCES, syscall.EPERM,
	} {
		if strings.HasSuffix(err.Error(), ": "+number.Error()) {
			return number
		}
	}
	return err
}

// systemReason is what the operating system says, without a path.
func systemReason(err error) string {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}
