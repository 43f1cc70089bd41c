// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"os"
	"path/filepath"
	"slices"
)

// Leftovers are the folders of this user whose owners are dead, as the next run
// would remove them. Nothing is removed. On Windows it cannot be told without
// removing them, and there are none.
func Leftovers() []string {
	var found []string
	for _, parent := range slices.Compact([]string{os.TempDir(), shortTemp()}) {
		found = append(found, leftovers(parent)...)
	}
	return found
}

// Parents are the folders in which runs make theirs: for files, and for sockets.
func Parents() (files, sockets string) { return os.TempDir(), shortTemp() }

func leftovers(parent string) []string {
	dir, err := os.Open(parent)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostNames)
	slices.Sort(names)
	var found []string
	for _, name := range names {
		if path := filepath.Join(parent, name); ours(name) && unheld(path) {
			found = append(found, path)
		}
	}
	return found
}
