// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Sockets are the files of sockets in the experiment's home, relative to it. A
// file says nothing about whether somebody still listens.
func (e *Experiment) Sockets() (found []string, err error) {
	err = filepath.WalkDir(e.home, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone in this moment
		}
		if err != nil || d.Type()&fs.ModeSocket == 0 {
			return err
		}
		name, err := filepath.Rel(e.home, path)
		found = append(found, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for sockets: %w", err)
	}
	return found, nil
}
