// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package server

// FolderError is a folder that cannot be trusted with a socket or a journal.
type FolderError struct {
	// Dir is the folder, Reason what is wrong with it.
	Dir, Reason string
	// Closable says that its owner is this user, and that it is no folder for
	// everybody such as the one for temporary files: taking the others' access
	// away would be a remedy.
	Closable bool
}

// Error is the folder and what is wrong with it; the remedy depends on whose
// folder it is meant to be.
func (e *FolderError) Error() string { return e.Dir + " " + e.Reason }
