// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"os"
	"path/filepath"
	"strings"
)

// A run must not wait long for the leavings of others: what is too much is left
// to the next one.
const (
	// mostNames bounds how many temporary files are looked at.
	mostNames = 20_000
	// mostRemoved bounds how many folders one run removes.
	mostRemoved = 64
)

// sweep removes the folders of this user whose owners are dead. What cannot be
// removed stays: it is no reason for a run to fail.
func sweep(parent string) {
	dir, err := os.Open(parent)
	if err != nil {
		return
	}
	defer dir.Close()
	// An error comes with the names that were read before it.
	names, _ := dir.Readdirnames(mostNames)
	removed := 0
	for _, name := range names {
		if ours(name) && removed < mostRemoved && discard(filepath.Join(parent, name)) {
			removed++
		}
	}
}

// ours says whether a name is one that this package gives.
func ours(name string) bool {
	number, found := strings.CutPrefix(name, prefix)
	return found && number != "" && strings.Trim(number, "0123456789") == ""
}
