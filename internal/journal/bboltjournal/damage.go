// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"errors"
	"fmt"
	"strings"

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
	reason := strings.TrimPrefix(e.Err.Error(), journal.ErrCorrupt.Error()+": ")
	return fmt.Sprintf("%s: %s (%s): it was left as it is; restore the file from a backup, or move it away to start with an empty journal that knows of no running call",
		e.Path, journal.ErrCorrupt, reason)
}

// Unwrap is journal.ErrCorrupt and what is wrong.
func (e *DamageError) Unwrap() []error { return []error{journal.ErrCorrupt, e.Err} }

// Explain adds the file and the remedy to an error from reading the journal
// that says no more than that it is damaged, as a check of its contents does.
func (j *Journal) Explain(err error) error {
	var damage *DamageError
	if !errors.Is(err, journal.ErrCorrupt) || errors.As(err, &damage) {
		return err
	}
	return &DamageError{Path: j.path, Err: err}
}
