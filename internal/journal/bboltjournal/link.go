// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package bboltjournal

import "os"

// linkNew gives a file another name, which must be free, and takes the old one
// away.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	_ = os.Remove(from) // swept later
	return nil
}
