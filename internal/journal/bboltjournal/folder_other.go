// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package bboltjournal

// checkFolder trusts the access lists of the user's profile: the permission
// bits say nothing on this system.
func checkFolder(string) error { return nil }

// syncFolder does nothing: folders cannot be synchronised on this system.
func syncFolder(string) error { return nil }
