// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ForeignError is a settings file above the working folder that neither the
// user nor whoever owns the working folder has put there. Anybody can put one
// into a folder such as /tmp, and it would say to whom a token is sent.
type ForeignError struct{ Path string }

// Error names the file.
func (e *ForeignError) Error() string {
	return e.Path + " belongs to another user"
}

// Find looks for the settings file in the working folder and the folders above
// it, up to the root of the repository: the folder that holds .git. Without a
// repository it ends below home and below the root of the file system. The path
// is empty when there is no file. ForeignError says that the one that was found
// is not to be trusted.
func Find(dir, home string) (path string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	if home != "" {
		home = filepath.Clean(home)
	}
	for at := dir; ; {
		path := filepath.Join(at, FileName)
		info, err := os.Stat(path)
		if err == nil {
			if at != dir && !trusted(info, dir) {
				return "", &ForeignError{Path: path}
			}
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("look for %s: %w", FileName, err)
		}
		up := filepath.Dir(at)
		outside := up == home || filepath.Dir(up) == up
		if isRepository(at) || at == home || at == up || (outside && !isRepository(up)) {
			return "", nil
		}
		at = up
	}
}

// isRepository says whether a folder is the root of a Git repository or of one
// of its work trees, where .git is a file.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
