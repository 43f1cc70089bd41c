// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// format is the version of the file.
const format = 1

// maxFile bounds the file in bytes: a few thousand sessions.
const maxFile = 64 << 20

type file struct {
	Format   int                         `json:"format"`
	Sessions map[admission.SessionID]Kin `json:"sessions"`
}

func load(path string) (map[admission.SessionID]Kin, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is too large to be read (%d bytes)", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("%s has format %d, which this version does not know", path, f.Format)
	}
	return f.Sessions, nil
}

// save makes sure that the file holds a change. Changes that came meanwhile are
// written together.
func (r *Registry) save(change uint64) error {
	if r.path == "" {
		return nil
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	if r.saved >= change {
		return nil
	}
	sessions, at := r.copy()
	data, err := json.Marshal(file{Format: format, Sessions: sessions})
	if err != nil {
		return fmt.Errorf("write down processes: %w", err)
	}
	if err := replace(r.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write down processes: %w", err)
	}
	r.saved = at
	return nil
}

// replace writes a private file so that readers see the old one or the new one.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
