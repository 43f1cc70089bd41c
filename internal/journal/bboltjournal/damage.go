// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// DamageError is a journal's file that cannot be read back as it was written.
// It was left as it is.
type DamageError struct {
	// Path is the file.
	Path string
	// Err says what is wrong.
	Err error
}

// Error names the file and the remedy.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %s (%s): it was left as it is; restore the file from a backup, or move it away to start with an empty journal that knows of no running call",
		e.Path, journal.ErrCorrupt, detail(e.Err, journal.ErrCorrupt))
}

// Unwrap is journal.ErrCorrupt and what is wrong.
func (e *DamageError) Unwrap() []error { return []error{journal.ErrCorrupt, e.Err} }

// NewerError is a journal that a newer version of the program wrote. It was
// left as it is.
type NewerError struct {
	// Path is the file.
	Path string
	// Err says what this version does not know.
	Err error
}

// Error names the file and the remedy.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s: %s (%s): it was left as it is; install that version of tfweaver, or use another state folder",
		e.Path, journal.ErrNewer, detail(e.Err, journal.ErrNewer))
}

// Unwrap is journal.ErrNewer and what is not known.
func (e *NewerError) Unwrap() []error { return []error{journal.ErrNewer, e.Err} }

// detail is what an error says beside the words of another.
func detail(err, known error) string {
	return strings.TrimPrefix(err.Error(), known.Error()+": ")
}

// Explain adds the file and the remedy to an error from reading the journal
// that says no more than that it is damaged or newer, as a check of its
// contents does.
func (j *Journal) Explain(err error) error {
	if err == nil || named(err) {
		return err
	}
	switch {
	case errors.Is(err, journal.ErrNewer):
		return &NewerError{Path: j.path, Err: err}
	case errors.Is(err, journal.ErrCorrupt), senseless(err):
		return &DamageError{Path: j.path, Err: err}
	}
	return err
}

// senseless says whether an error is from a record or snapshot that is as it was
// written, and still makes no sense.
func senseless(err error) bool {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	return errors.Is(err, admission.ErrReplay) || errors.As(err, &syntax) || errors.As(err, &kind)
}

// named says whether an error names the file already.
func named(err error) bool {
	var (
		damage  *DamageError
		newer   *NewerError
		storage *StorageError
	)
	return errors.As(err, &damage) || errors.As(err, &newer) || errors.As(err, &storage)
}

// describe adds the file and the remedy to an error from opening the file.
func describe(path string, err error) error {
	var system syscall.Errno
	switch {
	case err == nil, named(err):
		return err
	case errors.Is(err, journal.ErrNewer):
		return &NewerError{Path: path, Err: err}
	case errors.As(err, &system):
		return storageError(path, err)
	default: // what bbolt says of a file has no types throughout
		return &DamageError{Path: path, Err: err}
	}
}
