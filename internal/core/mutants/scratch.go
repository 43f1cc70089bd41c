// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// scratchName is how the folders of this program are called: by its process
// number, for whoever wonders whose they are.
var scratchName = regexp.MustCompile(`^mutants-\d+-\d+$`)

// young is how long a folder may take until it is locked.
const young = time.Minute

// scratch makes a temporary folder, and removes those of earlier runs that were
// killed. As long as this program runs it holds a lock on its own.
func scratch() (dir string, remove func(), err error) {
	sweep(os.TempDir(), time.Now())
	if dir, err = os.MkdirTemp("", fmt.Sprintf("mutants-%d-", os.Getpid())); err != nil {
		return "", nil, fmt.Errorf("make a copy: %w", err)
	}
	release, free, err := hold(dir)
	if err == nil && !free {
		err = fmt.Errorf("%s is held by another", dir)
	}
	if err == nil {
		err = os.Mkdir(buildFolder(filepath.Join(dir, "tree")), 0o700)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("make a copy: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir); release() }, nil
}

// buildFolder is where go builds what is in a copy of the repository: beside it, since
// go leaves its folders behind when it is killed.
func buildFolder(tree string) string { return filepath.Join(filepath.Dir(tree), "t") }

// sweep removes the folders that nobody holds. One that cannot be removed is in
// nobody's way.
func sweep(in string, now time.Time) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !scratchName.MatchString(e.Name()) || now.Sub(info.ModTime()) < young {
			continue
		}
		dir := filepath.Join(in, e.Name())
		release, free, err := hold(dir)
		if err != nil {
			continue
		}
		if free {
			_ = os.RemoveAll(dir)
		}
		release()
	}
}
