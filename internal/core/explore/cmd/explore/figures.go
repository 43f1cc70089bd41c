// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfweaver/tfweaver/internal/core/explore"
)

// figures are the content of the JSON file. Those of the mutants are written by
// the program that tries them.
type figures struct {
	States          int `json:"states"`
	Configurations  int `json:"configurations"`
	Counterexamples int `json:"counterexamples"`
	Mutants         int `json:"mutants"`
	MutantsKilled   int `json:"mutants_killed"`
}

// load reads what is in the file already, before anything is searched.
func load(file string) (figures, error) {
	var f figures
	if file == "" {
		return f, nil
	}
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err == nil:
		err = json.Unmarshal(old, &f)
	}
	if err != nil {
		return f, fmt.Errorf("the figures of before, %s: %w", file, err)
	}
	return f, nil
}

// save writes the figures, and keeps those of the mutants.
func (f figures) save(file string, out explore.Outcome) error {
	if file == "" {
		return nil
	}
	f.States, f.Configurations, f.Counterexamples = out.States, out.Configs, 0
	if out.Finding != nil {
		f.Counterexamples = 1
	}
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	return write(file, append(data, '\n'))
}

// write writes a file, and makes its folder.
func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
