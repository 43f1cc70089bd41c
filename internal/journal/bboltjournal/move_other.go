// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux && !darwin && !windows

package bboltjournal

// moveNew renames a file to a name that is free; fs.ErrExist when it is not.
func moveNew(from, to string) error { return linkNew(from, to) }
